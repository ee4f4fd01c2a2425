package web

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// specs are both documents, by name.
func specs() map[string]spec {
	return map[string]spec{"openapi": readSpec(openAPI("1")), "asyncapi": readSpec(asyncAPI("1"))}
}

// The documents are there for everyone, and whoever has one already need not read it again.
func TestSpecsAreServed(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.AllowedOrigins, o.Version = []string{"https://app.example.com"}, "1.2.3" })
	h := s.Handler()
	for name, path := range map[string]string{"openapi": "/v1/openapi.json", "asyncapi": "/v1/asyncapi.json"} {
		r := ask(t, h, "GET", path, "", "", "Origin", "https://app.example.com")
		body := mustAnswer[object](t, r, 200)
		if body[name] == nil || body["info"].(object)["version"] != "1.2.3" {
			t.Errorf("%s: %v of %v", path, body[name], body["info"])
		}
		tag := r.Header.Get("ETag")
		if len(tag) < 10 || r.Header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
			t.Errorf("%s: %v", path, r.Header)
		}
		again := ask(t, h, "GET", path, "", "", "If-None-Match", tag)
		if rest, _ := io.ReadAll(again.Body); again.StatusCode != 304 || len(rest) > 0 {
			t.Errorf("%s again: %d, %d bytes", path, again.StatusCode, len(rest))
		}
	}
}

func TestSpecsReferToWhatIsThere(t *testing.T) {
	for name, s := range specs() {
		count := 0
		s.each(s.root, func(ref string) {
			count++
			if s.at(ref) == nil {
				t.Errorf("%s: nothing at %s", name, ref)
			}
		})
		if count < 100 {
			t.Errorf("%s: only %d references", name, count)
		}
	}
}

// each finds all references.
func (s spec) each(v any, found func(ref string)) {
	switch v := v.(type) {
	case object:
		if ref, ok := v["$ref"].(string); ok {
			found(ref)
		}
		for _, value := range v {
			s.each(value, found)
		}
	case []any:
		for _, value := range v {
			s.each(value, found)
		}
	}
}

// A checker that lets everything pass would prove nothing.
func TestMisfits(t *testing.T) {
	s := specs()["asyncapi"]
	for name, frame := range map[string]string{
		"command.grab":  `{"id":1,"rpc":{"method":"grab"}}`,
		"reply.send":    `{"id":7,"rpc":{"data":{"seq":1,"id":"e","at":1,"dup":false}}}`,
		"push.left":     `{"push":{"message":{"data":{"left":{"room":"r","reason":"left"}}}}}`,
		"entry.recall":  `{"push":{"channel":"room:r","pub":{"offset":1,"data":{"seq":1,"id":"e","at":1,"from":{"id":"u","name":"n"},"kind":"recall","body":{"target":1}}}}}`,
		"error":         `{"id":7,"error":{"code":1003,"message":"muted"}}`,
		"command.react": `{"id":7,"rpc":{"method":"react","data":{"room":"r","seq":1,"emoji":"x","on":true}}}`,
	} {
		schema := s.at("#/components/messages/" + name).(object)["payload"].(object)
		var value any
		if err := json.Unmarshal([]byte(frame), &value); err != nil {
			t.Fatal(err)
		}
		if bad := s.misfit(schema, value, false); bad != "" {
			t.Errorf("%s: %s", name, bad)
		}
		for _, change := range [][2]string{
			{`"room":"r"`, `"room":7`}, {`"id":7`, `"id":0`}, {`"dup":false`, `"dup":0`}, {`"dup":false`, `"dup":false,"more":1`}, {`,"at":1`, ``},
			{`"reason":"left"`, `"reason":"gone"`}, {`"left":{"`, `"typing":{"`}, {`"target":1`, `"target":1.5`}, {`"target":1`, `"target":1,"text":"x"`},
			{`"kind":"recall"`, `"kind":"react"`}, {`"message":"muted"`, ``}, {`1003`, `1999`}, {`"seq":1,"emoji"`, `"seq":0,"emoji"`},
			{`"emoji":"x"`, `"emoji":""`}, {`"method":"grab"`, `"method":"grap"`}, {`room:r`, `r`}, {`"id":7`, `"id":null`}, {`{"target":1}`, `[]`},
		} {
			changed := strings.Replace(frame, change[0], change[1], 1)
			if changed == frame || json.Unmarshal([]byte(changed), &value) != nil {
				continue
			}
			if s.misfit(schema, value, false) == "" {
				t.Errorf("%s passes as %s", changed, name)
			}
		}
	}
}

// Errors by status hold each code of the command once.
func TestResponsesHoldTheCodes(t *testing.T) {
	s := specs()["openapi"]
	for _, m := range wire.Methods {
		responses := s.at("#/paths/~1v1~1commands~1" + m.Name + "/post/responses").(object)
		var told []wire.Code
		for _, response := range responses {
			s.eachCode(response, func(c wire.Code) { told = append(told, c) })
		}
		want := slices.Concat(wire.Always, wire.OverHTTP, m.Errors)
		slices.Sort(want)
		slices.Sort(told)
		if !slices.Equal(told, want) {
			t.Errorf("%s: %v, want %v", m.Name, told, want)
		}
	}
}

func (s spec) eachCode(response any, found func(wire.Code)) {
	schema := response.(object)["content"].(object)["application/json"].(object)["schema"].(object)
	for _, part := range list(schema["allOf"]) {
		properties, _ := part.(object)["properties"].(object)
		if properties == nil {
			continue
		}
		code := properties["error"].(object)["properties"].(object)["code"].(object)
		for _, c := range list(code["enum"]) {
			found(wire.Code(c.(float64)))
		}
	}
}
