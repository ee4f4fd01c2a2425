package web

import (
	"go/ast"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"hongbao/web/spec/spectest"
	"hongbao/web/wire"
)

// TestAdminCommandsAreInTheTable compares adminCommands with the table of endpoints of package wire, from which the
// documents are generated. Both must have the same commands.
func TestAdminCommandsAreInTheTable(t *testing.T) {
	signatures := map[string]any{
		"credit": (*Server).adminCredit, "debit": (*Server).adminDebit, "audit": (*Server).adminAudit, "start_audit": (*Server).adminStartAudit,
		"disconnect": (*Server).adminDisconnect, "stats": (*Server).adminStats, "heads": (*Server).adminHeads,
	}
	listed := 0
	for _, e := range wire.Endpoints {
		if e.Open || e.Guest || e.User {
			continue
		}
		listed++
		if adminCommands[e.Name] == nil || signatures[e.Name] == nil {
			t.Errorf("%s is not answered", e.Name)
			continue
		}
		run := reflect.TypeOf(signatures[e.Name])
		request, reply := run.In(run.NumIn()-1).Elem(), run.Out(0)
		if reflect.TypeOf(e.Reply) != reply || e.Request != nil && reflect.TypeOf(e.Request) != request || e.Request == nil && request.NumField() > 0 {
			t.Errorf("%s takes %v and returns %v, the table says %T and %T", e.Name, request, reply, e.Request, e.Reply)
		}
	}
	if len(adminCommands) != listed || len(signatures) != listed {
		t.Errorf("%d commands and %d signatures, the table lists %d", len(adminCommands), len(signatures), listed)
	}
}

// TestEveryRouteIsDescribed checks that the OpenAPI document describes every route under /v1, except the two routes
// that serve the documents.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	paths := spectest.OpenAPI(t).At("#/paths").(object)
	socket := spectest.AsyncAPI(t).At("#/channels/socket/address") // its requests upgrade, which OpenAPI cannot say
	routes, ok := newTestServer(t).Handler().(chi.Routes)
	if !ok {
		t.Fatal("the handler does not tell its routes")
	}
	count := 0
	err := chi.Walk(routes, func(verb, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		route = strings.Replace(route, "{method}", "wallet", 1)
		path, _ := paths[route].(object)
		if strings.HasPrefix(route, "/v1/") && !strings.HasSuffix(route, "api.json") && route != socket {
			if count++; path[strings.ToLower(verb)] == nil {
				t.Errorf("%s %s is not described", verb, route)
			}
		}
		return nil
	})
	if err != nil || count < 8 {
		t.Errorf("%d routes, %v", count, err)
	}
}

// TestKindsAreAll compares the table of kinds in package wire with the source code. It must hold exactly those that exist.
func TestKindsAreAll(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "chat", "*.go"))
	noError(t, err)
	inChat := 0
	for _, file := range files {
		for kind := range sentinelsIn(t, file, kindConstant) {
			inChat++
			if !slices.ContainsFunc(wire.Kinds, func(k wire.Kind) bool { return k.Kind == kind }) {
				t.Errorf("the kind %s is not in the table", kind)
			}
		}
	}
	if inChat != len(wire.Kinds) {
		t.Errorf("%d kinds in chat, %d in the table", inChat, len(wire.Kinds))
	}
}

// kindConstant returns the value of a constant whose name begins with Kind.
func kindConstant(n ast.Node) (string, bool) {
	spec, ok := n.(*ast.ValueSpec)
	if !ok || !strings.HasPrefix(spec.Names[0].Name, "Kind") || len(spec.Values) == 0 {
		return "", false
	}
	value, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	return strings.Trim(value.Value, `"`), true
}
