package spec_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"hongbao/web/spec"
	"hongbao/web/spec/spectest"
	"hongbao/web/wire"
)

func documents(t *testing.T) map[string]spectest.Document {
	return map[string]spectest.Document{"openapi": spectest.OpenAPI(t), "asyncapi": spectest.AsyncAPI(t)}
}

// TestVersion checks that a served document has the given version.
func TestVersion(t *testing.T) {
	for version, want := range map[string]string{"1.2.3-<x>": `"version":"1.2.3-<x>"`, "": `"version":"dev"`} {
		for name, text := range map[string][]byte{"openapi": spec.OpenAPI(version), "asyncapi": spec.AsyncAPI(version)} {
			if bytes.Count(text, []byte(want)) != 1 || bytes.Contains(text, []byte("\n")) {
				t.Errorf("%s of version %q: want %s once, on one line", name, version, want)
			}
		}
	}
}

func TestReferencesResolve(t *testing.T) {
	for name, d := range documents(t) {
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
			eachCode(response, func(c wire.Code) { listed = append(listed, c) })
		}
		want := slices.Concat(wire.Always, wire.OverHTTP, m.Errors)
		slices.Sort(want)
		slices.Sort(listed)
		if !slices.Equal(listed, want) {
			t.Errorf("%s: codes %v, want %v", m.Name, listed, want)
		}
	}
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
	for _, p := range wire.PushNames {
		want(p.Name, "#/components/messages/push."+p.Name)
	}
	for _, c := range wire.Closes() {
		in(c.Reason, spectest.List(d.At("#/channels/socket/x-closes")), "code", float64(c.Code))
	}
	return all
}
