package spec_test

import (
	"strings"
	"testing"

	"hongbao/web/spec/spectest"
)

// TestExamplesMatch checks that each operation has a tag, a description, and examples that match their schemas.
func TestExamplesMatch(t *testing.T) {
	for name, d := range map[string]spectest.Document{"openapi": spectest.OpenAPI(t), "server openapi": spectest.ServerOpenAPI(t)} {
		examplesMatch(t, name, d)
	}
}

func examplesMatch(t *testing.T, name string, d spectest.Document) {
	t.Helper()
	bodies := 0
	match := func(where string, body any) {
		t.Helper()
		media, ok := spectest.Object{}, false
		if content, has := d.Follow(body)["content"].(spectest.Object); has {
			media, ok = content["application/json"].(spectest.Object)
		}
		if !ok {
			if !strings.Contains(where, " /v1/files/") {
				t.Errorf("%s is no JSON", where)
			}
			return // the content of a file
		}
		if media["example"] == nil {
			t.Errorf("%s has no example", where)
		} else if bad := d.Mismatch(media["schema"].(spectest.Object), media["example"]); bad != "" {
			t.Errorf("%s: the example does not match: %s", where, bad)
		}
		bodies++
	}
	for path, verbs := range d.At("#/paths").(spectest.Object) {
		for verb, value := range verbs.(spectest.Object) {
			operation, where := value.(spectest.Object), name+": "+verb+" "+path
			if len(spectest.List(operation["tags"])) == 0 || operation["description"] == "" || operation["summary"] == "" {
				t.Errorf("%s has tags %v, summary %v, description %v", where, operation["tags"], operation["summary"], operation["description"])
			}
			if body := operation["requestBody"]; body != nil {
				match(where+": request", body)
			}
			for status, response := range operation["responses"].(spectest.Object) {
				match(where+": "+status, response)
			}
		}
	}
	if bodies < 300 {
		t.Errorf("%s: found %d bodies, want at least 300", name, bodies)
	}
}

// TestMessageExamplesMatch checks that each message of the socket has an example that matches its schema. Pings have none: they are empty.
func TestMessageExamplesMatch(t *testing.T) {
	d := spectest.AsyncAPI(t)
	for name, value := range d.At("#/components/messages").(spectest.Object) {
		message := value.(spectest.Object)
		examples := spectest.List(message["examples"])
		if len(examples) == 0 && name != "ping" && name != "pong" {
			t.Errorf("message %s has no example", name)
		}
		for _, example := range examples {
			if bad := d.Mismatch(message["payload"].(spectest.Object), example.(spectest.Object)["payload"]); bad != "" {
				t.Errorf("message %s: the example does not match: %s", name, bad)
			}
		}
	}
	for name, value := range d.At("#/operations").(spectest.Object) {
		if value.(spectest.Object)["description"] == "" {
			t.Errorf("operation %s has no description", name)
		}
	}
}
