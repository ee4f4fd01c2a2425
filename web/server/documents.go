package server

import (
	"context"
	"encoding/json"

	"hongbao/web/spec"
)

// documentRoutes returns the routes of the documents. They need a key, as all others: without one a caller learns nothing.
func (s *Server) documentRoutes() []Route {
	document := func(operation string, text []byte) Route {
		return Handle(operation, func(context.Context, Caller, *struct{}) (json.RawMessage, error) { return text, nil })
	}
	return []Route{
		document("get_openapi", spec.ServerOpenAPI(s.o.Version)),
		document("get_asyncapi", spec.ServerAsyncAPI(s.o.Version)),
	}
}
