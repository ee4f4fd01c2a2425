package server

import (
	"context"
	"encoding/json"

	"hongbao/web/spec"
)

// documentRoutes returns the routes of the OpenAPI and AsyncAPI documents. Requests need a key, as for all other routes.
func (s *Server) documentRoutes() []Route {
	document := func(operation string, text []byte) Route {
		return Handle(operation, func(context.Context, Caller, *struct{}) (json.RawMessage, error) { return text, nil })
	}
	return []Route{
		document("get_openapi", spec.ServerOpenAPI(s.o.Version)),
		document("get_asyncapi", spec.ServerAsyncAPI(s.o.Version)),
	}
}
