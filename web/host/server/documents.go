package server

import (
	"context"
	"encoding/json"
	"sync"

	"hongbao/web/spec"
)

// documentRoutes returns the routes of the OpenAPI and AsyncAPI documents. Requests need a key, as for all other routes.
func (s *Server) documentRoutes() []Route {
	document := func(operation string, text func(version string) []byte) Route {
		made := sync.OnceValue(func() json.RawMessage { return text(s.o.Version) })
		return Handle(operation, func(context.Context, Caller, *struct{}) (json.RawMessage, error) { return made(), nil })
	}
	return []Route{
		document("get_openapi", spec.ServerOpenAPI),
		document("get_asyncapi", spec.ServerAsyncAPI),
	}
}
