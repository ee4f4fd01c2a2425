package web

import (
	"cmp"
	"go/ast"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"hongbao/web/wire"
)

// The table that documents and tests go by is the one that requests are answered by.
func TestTheTableIsTheServers(t *testing.T) {
	all := map[string]wire.Method{}
	for _, m := range wire.Methods {
		all[m.Name] = m
		if commands[m.Name] == nil {
			t.Errorf("%s is not answered", m.Name)
		}
	}
	for _, e := range wire.Endpoints {
		if !e.Open && adminCommands[e.Name] == nil {
			t.Errorf("%s is not answered", e.Name)
		}
		all[e.Name] = e.Method
	}
	for _, table := range []map[string]command{commands, adminCommands} {
		for name, c := range table {
			run, _ := reflect.TypeOf(c).FieldByName("run")
			request, reply := run.Type.In(run.Type.NumIn()-1).Elem(), run.Type.Out(0)
			m, ok := all[name]
			switch {
			case !ok:
				t.Errorf("%s is not in the table", name)
			case reflect.TypeOf(m.Reply) != reply, m.Request != nil && reflect.TypeOf(m.Request) != request, m.Request == nil && request.NumField() > 0:
				t.Errorf("%s takes %v and gives %v, the table says %T and %T", name, request, reply, m.Request, m.Reply)
			}
		}
	}
	for _, m := range all {
		if once := slices.Compact(slices.Sorted(slices.Values(m.Errors))); len(once) != len(m.Errors) || m.Does == "" {
			t.Errorf("%s: %v, %q", m.Name, m.Errors, m.Does)
		}
		if _, limited := userRates[m.Rate]; m.Rate != "" && (!limited || m.Rate != cmp.Or(spentAs[m.Name], m.Name)) {
			t.Errorf("%s counts for %q", m.Name, m.Rate)
		}
	}
	for name := range userRates {
		if all[name].Rate != name {
			t.Errorf("%s is limited, and the table does not say so", name)
		}
	}
}

// Every route under /v1 is described, but for the descriptions.
func TestEveryRouteIsDescribed(t *testing.T) {
	paths := specs()["openapi"].at("#/paths").(object)
	routes, ok := newTestServer(t).Handler().(chi.Routes)
	if !ok {
		t.Fatal("the handler does not tell its routes")
	}
	count := 0
	err := chi.Walk(routes, func(verb, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		route = strings.Replace(route, "{method}", "wallet", 1)
		path, _ := paths[route].(object)
		if strings.HasPrefix(route, "/v1/") && !strings.HasSuffix(route, "api.json") {
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

// Kinds and pushes are those that there are.
func TestKindsAndPushesAreAll(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "chat", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	inChat := 0
	for _, file := range files {
		for kind := range sentinelsIn(t, file, kindConstant) {
			inChat++
			if !slices.ContainsFunc(wire.Kinds, func(k struct {
				Kind string
				Body any
			}) bool {
				return k.Kind == kind
			}) {
				t.Errorf("the kind %s is not in the table", kind)
			}
		}
	}
	if inChat != len(wire.Kinds) {
		t.Errorf("%d kinds in chat, %d in the table", inChat, len(wire.Kinds))
	}
	message := reflect.TypeFor[wire.Message]()
	if message.NumField() != len(wire.PushNames) {
		t.Errorf("%d pushes, %d in the table", message.NumField(), len(wire.PushNames))
	}
	for _, p := range wire.PushNames {
		if !slices.ContainsFunc(reflect.VisibleFields(message), func(f reflect.StructField) bool {
			return f.Tag.Get("json") == p.Name+",omitempty" && f.Type.Elem() == reflect.TypeOf(p.Data)
		}) {
			t.Errorf("%s is no push with %T", p.Name, p.Data)
		}
	}
}

// kindConstant gives the value of a constant Kind….
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
