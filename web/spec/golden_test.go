package spec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hongbao/web/spec/spectest"
	"hongbao/web/wire"
	"hongbao/web/wire/strict"
)

// TestGoldenFramesMatch checks each golden frame against the AsyncAPI document.
func TestGoldenFramesMatch(t *testing.T) {
	d := spectest.AsyncAPI(t)
	messages := d.At("#/components/messages").(spectest.Object)
	files, err := filepath.Glob(filepath.Join("..", "wire", "testdata", "*.json"))
	if err != nil || len(files) < 30 {
		t.Fatalf("found %d golden frames, %v; want at least 30", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		message, ok := messages[messageName(messages, name)].(spectest.Object)
		if !ok {
			t.Errorf("golden frame %s: the document has no such message", name)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var frame any
		if err := json.Unmarshal(text, &frame); err != nil {
			t.Fatal(err)
		}
		if bad := d.Mismatch(message["payload"].(spectest.Object), frame); bad != "" {
			t.Errorf("golden frame %s does not match the document: %s", name, bad)
		}
	}
}

// messageName returns the name of a golden frame's message in the document: the file reply-grab-empty holds a
// reply.grab.
func messageName(messages spectest.Object, file string) string {
	kind, rest, _ := strings.Cut(file, "-")
	for ; rest != ""; rest, _ = cutLast(rest, "-") {
		for _, name := range []string{kind + "." + rest, "entry." + rest} {
			if messages[name] != nil {
				return name
			}
		}
	}
	if kind == "connect" || kind == "refresh" {
		return "reply." + kind
	}
	return kind
}

func cutLast(s, sep string) (before, after string) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", ""
	}
	return s[:i], s[i+1:]
}

// TestRequestsAreDecodedAsSpecified decodes the smallest request that each schema allows; it must be accepted. Without
// any one of its fields it must be refused.
func TestRequestsAreDecodedAsSpecified(t *testing.T) {
	d := spectest.OpenAPI(t)
	var requests []any
	for _, m := range wire.Methods {
		requests = append(requests, m.Request)
	}
	for _, e := range wire.Endpoints {
		if e.Request != nil {
			requests = append(requests, e.Request)
		}
	}
	for _, request := range requests {
		kind := reflect.TypeOf(request)
		schema := d.At("#/components/schemas/" + kind.Name()).(spectest.Object)
		smallest := spectest.Object{}
		for _, name := range spectest.List(schema["required"]) {
			smallest[name.(string)] = example(schema["properties"].(spectest.Object)[name.(string)].(spectest.Object))
		}
		text := encoded(t, smallest)
		var decoded any
		if err := json.Unmarshal(text, &decoded); err != nil {
			t.Fatal(err)
		}
		if bad := d.Mismatch(schema, decoded); bad != "" {
			t.Errorf("%s: the smallest request does not match its schema: %s", kind.Name(), bad)
		}
		if err := strict.Decode(text, reflect.New(kind).Interface()); err != nil {
			t.Errorf("%s: the smallest request is refused: %v", kind.Name(), err)
		}
		for name, value := range smallest {
			delete(smallest, name)
			if err := strict.Decode(encoded(t, smallest), reflect.New(kind).Interface()); err == nil {
				t.Errorf("%s: accepted without the required field %s", kind.Name(), name)
			}
			smallest[name] = value
		}
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// example returns a value that matches the schema of a field.
func example(schema spectest.Object) any {
	if among := spectest.List(schema["enum"]); len(among) > 0 {
		return among[0]
	}
	switch schema["type"] {
	case "string":
		return "x"
	case "integer":
		return max(schema["minimum"].(float64), 0)
	case "boolean":
		return false
	case "array":
		if schema["items"].(spectest.Object)["type"] != "string" {
			return []any{}
		}
		return []string{"x"}
	}
	return spectest.Object{}
}
