package web

import (
	"io"
	"testing"
)

// object is a JSON object.
type object = map[string]any

// TestSpecsAreServed requests both documents. They must be served without a token and to other origins. A request with
// the ETag must get status 304.
func TestSpecsAreServed(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.AllowedOrigins, o.Version = []string{"https://app.example.com"}, "1.2.3" })
	h := s.Handler()
	for name, path := range map[string]string{"openapi": "/v1/openapi.json", "asyncapi": "/v1/asyncapi.json"} {
		r := ask(t, h, "GET", path, "", "", "Origin", "https://app.example.com")
		body := mustAnswer[object](t, r, 200)
		if body[name] == nil || body["info"].(object)["version"] != "1.2.3" {
			t.Errorf("%s: %v of %v, want version 1.2.3", path, body[name], body["info"])
		}
		tag := r.Header.Get("ETag")
		if len(tag) < 10 || r.Header.Get("Access-Control-Allow-Origin") != "https://app.example.com" {
			t.Errorf("%s: headers %v, want an ETag and the allowed origin", path, r.Header)
		}
		again := ask(t, h, "GET", path, "", "", "If-None-Match", tag)
		if rest, _ := io.ReadAll(again.Body); again.StatusCode != 304 || len(rest) > 0 {
			t.Errorf("%s with its ETag: status %d and %d bytes, want 304 and none", path, again.StatusCode, len(rest))
		}
	}
}
