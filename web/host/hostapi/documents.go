package hostapi

import (
	"encoding/json"

	"hongbao/web/wire"
)

var documentOperations = []Operation{
	{
		Method: wire.Method{Name: "get_openapi", Does: "Returns the OpenAPI document of the server API.", Reply: json.RawMessage{}},
		Verb:   "GET", Path: "/v1/server/openapi.json", Scope: Read,
	},
	{
		Method: wire.Method{Name: "get_asyncapi", Does: "Returns the AsyncAPI document of the events that the webhook receives.", Reply: json.RawMessage{}},
		Verb:   "GET", Path: "/v1/server/asyncapi.json", Scope: Read,
	},
}
