package web

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// spec is a document as its readers have it.
type spec struct{ root object }

func readSpec(content object) spec {
	var root object
	if err := json.Unmarshal(marshal(content), &root); err != nil {
		panic(err)
	}
	return spec{root}
}

// at is what a reference leads to; nil: nothing.
func (s spec) at(ref string) any {
	var v any = s.root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		v = v.(object)[strings.ReplaceAll(step, "~1", "/")]
		if v == nil {
			return nil
		}
	}
	return v
}

// misfit says why a value is not as a schema of the document says; "" when it is. Of JSON Schema it knows what
// our documents use. An object may hold nothing that its schema does not name, unless it is open: then another one does.
func (s spec) misfit(schema object, v any, open bool) string {
	if ref, ok := schema["$ref"]; ok {
		return s.misfit(s.at(ref.(string)).(object), v, open)
	}
	for _, part := range list(schema["allOf"]) {
		if bad := s.misfit(part.(object), v, true); bad != "" {
			return bad
		}
	}
	if parts := list(schema["oneOf"]); len(parts) > 0 {
		fits := slices.DeleteFunc(slices.Clone(parts), func(part any) bool { return s.misfit(part.(object), v, true) != "" })
		if len(fits) != 1 {
			return fmt.Sprintf("%v fits %d of %d", v, len(fits), len(parts))
		}
	}
	if want, ok := schema["const"]; ok && !reflect.DeepEqual(v, want) {
		return fmt.Sprintf("%v is not %v", v, want)
	}
	if among := list(schema["enum"]); among != nil && !slices.Contains(among, v) {
		return fmt.Sprintf("%v is none of %v", v, among)
	}
	return s.misfitOfType(schema, v, open)
}

func (s spec) misfitOfType(schema object, v any, open bool) string {
	kind, typed := schema["type"].(string)
	switch v := v.(type) {
	case object:
		if typed && kind != "object" {
			return fmt.Sprintf("%v is an object", v)
		}
		return s.misfitOfObject(schema, v, open)
	case []any:
		if typed && kind != "array" {
			return fmt.Sprintf("%v is a list", v)
		}
		items, _ := schema["items"].(object)
		for _, item := range v {
			if bad := s.misfit(items, item, false); bad != "" {
				return bad
			}
		}
	case string:
		pattern, _ := schema["pattern"].(string)
		if least, _ := schema["minLength"].(float64); typed && kind != "string" || utf8.RuneCountInString(v) < int(least) ||
			!regexp.MustCompile(pattern).MatchString(v) {
			return fmt.Sprintf("%q is no such text", v)
		}
	case float64:
		least, bounded := schema["minimum"].(float64)
		if most, _ := schema["maximum"].(float64); typed && kind != "integer" || v != float64(int64(v)) || bounded && (v < least || v > most) {
			return fmt.Sprintf("%v is no such number", v)
		}
	case bool:
		if typed && kind != "boolean" {
			return fmt.Sprintf("%v is true or false", v)
		}
	default:
		return fmt.Sprintf("%v is nothing", v)
	}
	return ""
}

func (s spec) misfitOfObject(schema, v object, open bool) string {
	if most, ok := schema["maxProperties"].(float64); ok && len(v) > int(most) {
		return fmt.Sprintf("%v holds too much", v)
	}
	if least, ok := schema["minProperties"].(float64); ok && len(v) < int(least) {
		return fmt.Sprintf("%v holds too little", v)
	}
	for _, name := range list(schema["required"]) {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Sprintf("%s is not in %v", name, v)
		}
	}
	properties, named := schema["properties"].(object)
	others, _ := schema["additionalProperties"].(object)
	for name, value := range v {
		property, ok := properties[name].(object)
		switch {
		case !ok && others != nil:
			property = others
		case !ok && named && !open:
			return fmt.Sprintf("%s is not in the schema", name)
		case !ok:
			continue
		}
		if bad := s.misfit(property, value, open && property["$ref"] == nil); bad != "" {
			return name + ": " + bad
		}
	}
	return ""
}

func list(v any) []any {
	items, _ := v.([]any)
	return items
}
