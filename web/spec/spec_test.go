package spec_test

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hongbao/store/eventlog"
	"hongbao/web/host/hostapi"
	"hongbao/web/spec"
	"hongbao/web/spec/spectest"
	"hongbao/web/wire"
)

func documents(t *testing.T) map[string]spectest.Document {
	return map[string]spectest.Document{"openapi": spectest.OpenAPI(t), "asyncapi": spectest.AsyncAPI(t)}
}

func serverDocuments(t *testing.T) map[string]spectest.Document {
	return map[string]spectest.Document{"server openapi": spectest.ServerOpenAPI(t), "server asyncapi": spectest.ServerAsyncAPI(t)}
}

// TestVersion checks that a served document has the given version.
func TestVersion(t *testing.T) {
	for version, want := range map[string]string{`1.2.3-"x"`: `"version":"1.2.3-\"x\""`, "": `"version":"dev"`} {
		for name, text := range map[string][]byte{
			"openapi": spec.OpenAPI(version), "asyncapi": spec.AsyncAPI(version),
			"server openapi": spec.ServerOpenAPI(version), "server asyncapi": spec.ServerAsyncAPI(version),
		} {
			if bytes.Count(text, []byte(want)) != 1 || bytes.Contains(text, []byte("\n")) {
				t.Errorf("%s of version %q: want %s once, on one line", name, version, want)
			}
		}
	}
}

func TestReferencesResolve(t *testing.T) {
	all := documents(t)
	maps.Copy(all, serverDocuments(t))
	for name, d := range all {
		count := 0
		eachReference(d.Root, func(ref string) {
			count++
			if d.At(ref) == nil {
				t.Errorf("%s: reference %s does not resolve", name, ref)
			}
		})
		if count < 100 {
			t.Errorf("%s: found %d references, want at least 100", name, count)
		}
	}
}

// eachReference calls found for every reference ($ref) in a document.
func eachReference(v any, found func(ref string)) {
	switch v := v.(type) {
	case spectest.Object:
		if ref, ok := v["$ref"].(string); ok {
			found(ref)
		}
		for _, value := range v {
			eachReference(value, found)
		}
	case []any:
		for _, value := range v {
			eachReference(value, found)
		}
	}
}

// TestResponsesListTheCodes checks that the error responses of each command list each of its codes exactly once.
func TestResponsesListTheCodes(t *testing.T) {
	d := spectest.OpenAPI(t)
	for _, m := range wire.Methods {
		responses := d.At("#/paths/~1v1~1commands~1" + m.Name + "/post/responses").(spectest.Object)
		var listed []wire.Code
		for _, response := range responses {
			eachCode(d.Follow(response), func(c wire.Code) { listed = append(listed, c) })
		}
		want := slices.Concat(wire.Always, wire.OverHTTP, m.Errors)
		slices.Sort(want)
		slices.Sort(listed)
		if !slices.Equal(listed, want) {
			t.Errorf("%s: codes %v, want %v", m.Name, listed, want)
		}
	}
}

// TestServerDocumentsAreComplete checks that the documents of the server API have every operation with its scope, parameters and codes, and
// every kind of event.
func TestServerDocumentsAreComplete(t *testing.T) {
	d := spectest.ServerOpenAPI(t)
	for _, o := range hostapi.Operations() {
		described, ok := d.At("#/paths/" + strings.ReplaceAll(o.Path, "/", "~1") + "/" + strings.ToLower(o.Verb)).(spectest.Object)
		if !ok || described["operationId"] != o.Name || described["x-scope"] != string(o.Scope) {
			t.Errorf("%s %s (%s, scope %s) is not in the document, or with another name or scope", o.Verb, o.Path, o.Name, o.Scope)
			continue
		}
		var listed []wire.Code
		for _, response := range described["responses"].(spectest.Object) {
			eachCode(d.Follow(response), func(c wire.Code) { listed = append(listed, c) })
		}
		want := slices.Concat(hostapi.Always, o.Errors)
		slices.Sort(want)
		slices.Sort(listed)
		if want = slices.Compact(want); !slices.Equal(listed, want) {
			t.Errorf("%s: codes %v, want %v", o.Name, listed, want)
		}
		if o.Request == nil {
			continue
		}
		fields := fieldsOf(o.Request)
		if o.Name == "as_grab" {
			fields = append(fields, "person") // a parameter of the query: what the token of the user would say
		}
		if got := placed(d, described); !slices.Equal(got, fields) {
			t.Errorf("%s: the document has the fields %v, the request %v", o.Name, got, fields)
		}
	}
	var kinds []string
	for _, k := range hostapi.EventKinds() {
		kinds = append(kinds, k.Kind)
	}
	if !slices.Equal(kinds, eventlog.AllKinds()) {
		t.Errorf("hostapi.EventKinds has %v, want all kinds of events: %v", kinds, eventlog.AllKinds())
	}
	a := spectest.ServerAsyncAPI(t)
	for _, kind := range eventlog.AllKinds() {
		message, _ := a.At("#/components/messages/" + kind).(spectest.Object)
		if message == nil || a.At("#/operations/"+kind) == nil {
			t.Errorf("event %s is not in the AsyncAPI document", kind)
			continue
		}
		if examples := spectest.List(message["examples"]); len(examples) != 1 {
			t.Errorf("event %s has %d examples, want one", kind, len(examples))
		} else if bad := a.Mismatch(message["payload"].(spectest.Object), examples[0].(spectest.Object)["payload"]); bad != "" {
			t.Errorf("event %s: the example does not match: %s", kind, bad)
		}
	}
}

// placed returns the fields of a request that the document has as a parameter or in the body, sorted.
func placed(d spectest.Document, described spectest.Object) (all []string) {
	for _, p := range spectest.List(described["parameters"]) {
		if name, ok := p.(spectest.Object)["name"].(string); ok && name != hostapi.For {
			all = append(all, name)
		}
	}
	if body, ok := described["requestBody"].(spectest.Object); ok {
		schema := body["content"].(spectest.Object)["application/json"].(spectest.Object)["schema"].(spectest.Object)
		all = slices.AppendSeq(all, maps.Keys(d.At(schema["$ref"].(string)).(spectest.Object)["properties"].(spectest.Object)))
	}
	slices.Sort(all)
	return all
}

// fieldsOf returns the names of a request's fields, sorted.
func fieldsOf(request any) (all []string) {
	for f := range reflect.TypeOf(request).Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// eachCode calls found for every error code in a response.
func eachCode(response any, found func(wire.Code)) {
	schema := response.(spectest.Object)["content"].(spectest.Object)["application/json"].(spectest.Object)["schema"].(spectest.Object)
	properties, ok := schema["properties"].(spectest.Object)
	if !ok {
		return // a reply
	}
	code := properties["error"].(spectest.Object)["properties"].(spectest.Object)["code"].(spectest.Object)
	for _, part := range spectest.List(code["allOf"]) {
		for _, c := range spectest.List(part.(spectest.Object)["enum"]) {
			found(wire.Code(c.(float64)))
		}
	}
}

// TestDocumentsAreComplete checks that the documents have every method, push, kind, error code and close code.
func TestDocumentsAreComplete(t *testing.T) {
	for name, d := range documents(t) {
		for _, what := range missing(d, name == "openapi") {
			t.Errorf("%s: %s is missing", name, what)
		}
	}
}

// missing returns the parts of the protocol that a document lacks.
func missing(d spectest.Document, overHTTP bool) (all []string) {
	want := func(what, at string) {
		if d.At(at) == nil {
			all = append(all, what)
		}
	}
	in := func(what string, items []any, key string, value any) {
		if !slices.ContainsFunc(items, func(item any) bool { return reflect.DeepEqual(item.(spectest.Object)[key], value) }) {
			all = append(all, what)
		}
	}
	for _, m := range wire.Methods {
		if overHTTP {
			want(m.Name, "#/paths/~1v1~1commands~1"+m.Name)
		} else {
			want(m.Name, "#/operations/"+m.Name)
		}
	}
	var kinds []any
	for _, entry := range spectest.List(d.At("#/components/schemas/Entry/oneOf")) {
		kind := d.At(entry.(spectest.Object)["$ref"].(string)).(spectest.Object)
		kinds = append(kinds, kind["properties"].(spectest.Object)["kind"])
	}
	for _, k := range wire.Kinds {
		in(k.Kind, kinds, "const", k.Kind)
	}
	for _, c := range wire.Codes() {
		in(c.Word(), spectest.List(d.At("#/components/schemas/Code/oneOf")), "const", float64(c))
	}
	if overHTTP {
		return all
	}
	for _, p := range wire.Pushes() {
		want(p.Name, "#/components/messages/push."+p.Name)
	}
	for _, c := range wire.Closes() {
		in(c.Reason, spectest.List(d.At("#/channels/socket/x-closes")), "code", float64(c.Code))
	}
	return all
}
