package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// Every golden frame is as the document says, down to the last name.
func TestGoldenFramesAreAsSpecified(t *testing.T) {
	s := specs()["asyncapi"]
	messages := s.at("#/components/messages").(object)
	files, err := filepath.Glob(filepath.Join("wire", "testdata", "*.json"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d frames, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		message, ok := messages[messageName(messages, name)].(object)
		if !ok {
			t.Errorf("%s is not in the document", name)
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
		if bad := s.misfit(message["payload"].(object), frame, false); bad != "" {
			t.Errorf("%s: %s", name, bad)
		}
	}
}

// messageName finds what the document calls a golden frame: reply-grab-empty is a reply.grab.
func messageName(messages object, file string) string {
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

// What a schema asks of a request is what is asked of it: the least that the schema allows is taken, and without any one
// of its fields it is not.
func TestRequestsAreDecodedAsSpecified(t *testing.T) {
	s := specs()["openapi"]
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
		schema := s.at("#/components/schemas/" + kind.Name()).(object)
		least := object{}
		for _, name := range list(schema["required"]) {
			least[name.(string)] = example(schema["properties"].(object)[name.(string)].(object))
		}
		if bad := s.misfit(schema, readSpec(least).root, false); bad != "" {
			t.Errorf("%s: the least is none: %s", kind.Name(), bad)
		}
		if err := wire.Decode(marshal(least), reflect.New(kind).Interface()); err != nil {
			t.Errorf("%s: %v", kind.Name(), err)
		}
		for name, value := range least {
			delete(least, name)
			if err := wire.Decode(marshal(least), reflect.New(kind).Interface()); err == nil {
				t.Errorf("%s: taken without %s", kind.Name(), name)
			}
			least[name] = value
		}
	}
}

// example is a value that fits the schema of a field.
func example(schema object) any {
	if among := list(schema["enum"]); len(among) > 0 {
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
		return []string{"x"}
	}
	return object{}
}
