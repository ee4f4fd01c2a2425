// Package spectest checks JSON values against the OpenAPI and AsyncAPI documents. Only tests import it.
package spectest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"hongbao/web/spec"
)

// Object is a JSON object.
type Object = map[string]any

// Document is an OpenAPI or AsyncAPI document as decoded JSON.
type Document struct{ Root Object }

// OpenAPI returns the description of the HTTP interface.
func OpenAPI(t testing.TB) Document { return parse(t, spec.OpenAPI("1")) }

// AsyncAPI returns the description of the socket interface.
func AsyncAPI(t testing.TB) Document { return parse(t, spec.AsyncAPI("1")) }

// ServerOpenAPI returns the description of the server API.
func ServerOpenAPI(t testing.TB) Document { return parse(t, spec.ServerOpenAPI("1")) }

// ServerAsyncAPI returns the description of what a webhook receives.
func ServerAsyncAPI(t testing.TB) Document { return parse(t, spec.ServerAsyncAPI("1")) }

func parse(t testing.TB, text []byte) Document {
	t.Helper()
	var root Object
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	return Document{root}
}

// At returns the value that a reference like "#/paths" points to, or nil. It follows references on the way.
func (d Document) At(ref string) any {
	var v any = d.Root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		v = d.Follow(v)[strings.ReplaceAll(step, "~1", "/")]
		if v == nil {
			return nil
		}
	}
	return v
}

// Follow returns the part of the document that v is, or that it refers to.
func (d Document) Follow(v any) Object {
	o, _ := v.(Object)
	if ref, ok := o["$ref"].(string); ok {
		o, _ = d.At(ref).(Object)
	}
	return o
}

// Mismatch returns how the value differs from the schema, or "" if it matches. It knows the keywords of JSON Schema that the
// documents use for bodies and messages, and ignores all others. It is stricter than JSON Schema: numbers must be integers, and
// null matches nothing. If a schema names properties, an object may hold no others, except as additionalProperties allows.
func (d Document) Mismatch(schema Object, v any) string { return d.mismatch(schema, v, false) }

// mismatch is Mismatch for a part of a schema. open means that the object may have properties which this part does not
// name, because another part names them.
func (d Document) mismatch(schema Object, v any, open bool) string {
	if ref, ok := schema["$ref"]; ok {
		return d.mismatch(d.At(ref.(string)).(Object), v, open)
	}
	for _, part := range List(schema["allOf"]) {
		if bad := d.mismatch(part.(Object), v, true); bad != "" {
			return bad
		}
	}
	if parts := List(schema["oneOf"]); len(parts) > 0 {
		fits := slices.DeleteFunc(slices.Clone(parts), func(part any) bool { return d.mismatch(part.(Object), v, open || schema["properties"] != nil) != "" })
		if len(fits) != 1 {
			return fmt.Sprintf("%v matches %d of %d alternatives, want one", v, len(fits), len(parts))
		}
	}
	if want, ok := schema["const"]; ok && !reflect.DeepEqual(v, want) {
		return fmt.Sprintf("%v, want %v", v, want)
	}
	if among := List(schema["enum"]); among != nil && !slices.Contains(among, v) {
		return fmt.Sprintf("%v, want one of %v", v, among)
	}
	return d.typeMismatch(schema, v, open)
}

func (d Document) typeMismatch(schema Object, v any, open bool) string {
	kind, typed := schema["type"].(string)
	switch v := v.(type) {
	case Object:
		if typed && kind != "object" {
			return fmt.Sprintf("%v is an object, want another type", v)
		}
		return d.objectMismatch(schema, v, open)
	case []any:
		if typed && kind != "array" {
			return fmt.Sprintf("%v is an array, want another type", v)
		}
		items, _ := schema["items"].(Object)
		for _, item := range v {
			if bad := d.mismatch(items, item, false); bad != "" {
				return bad
			}
		}
	case string:
		pattern, _ := schema["pattern"].(string)
		if least, _ := schema["minLength"].(float64); typed && kind != "string" || utf8.RuneCountInString(v) < int(least) ||
			!regexp.MustCompile(pattern).MatchString(v) {
			return fmt.Sprintf("string %q is not allowed here", v)
		}
	case float64:
		least, bounded := schema["minimum"].(float64)
		if most, _ := schema["maximum"].(float64); typed && kind != "integer" || v != float64(int64(v)) || bounded && (v < least || v > most) {
			return fmt.Sprintf("number %v is not allowed here", v)
		}
	case bool:
		if typed && kind != "boolean" {
			return fmt.Sprintf("%v is a boolean, want another type", v)
		}
	default:
		return fmt.Sprintf("%v is not allowed anywhere", v)
	}
	return ""
}

func (d Document) objectMismatch(schema, v Object, open bool) string {
	if most, ok := schema["maxProperties"].(float64); ok && len(v) > int(most) {
		return fmt.Sprintf("%v has too many properties", v)
	}
	if least, ok := schema["minProperties"].(float64); ok && len(v) < int(least) {
		return fmt.Sprintf("%v has too few properties", v)
	}
	for _, name := range List(schema["required"]) {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Sprintf("property %s is missing in %v", name, v)
		}
	}
	properties, named := schema["properties"].(Object)
	others, _ := schema["additionalProperties"].(Object)
	for name, value := range v {
		property, ok := properties[name].(Object)
		switch {
		case !ok && others != nil:
			property = others
		case !ok && named && !open:
			return fmt.Sprintf("property %s is not in the schema", name)
		case !ok:
			continue
		}
		if bad := d.mismatch(property, value, open && property["$ref"] == nil); bad != "" {
			return name + ": " + bad
		}
	}
	return ""
}

// List returns the items of a JSON array, or nil for any other value.
func List(v any) []any {
	items, _ := v.([]any)
	return items
}
