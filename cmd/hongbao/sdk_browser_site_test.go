package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"hongbao/web/webtest"
)

// The builds of the package centrifuge, one of which is the page's.
var (
	centrifugeJSON     = filepath.Join("..", "..", "web", "static", "vendor", "centrifuge.js")
	centrifugeProtobuf = filepath.Join("testdata", "sdk", "centrifuge.protobuf.js")
)

// sdkSite is where pages with an SDK come from, another origin than any server's, and the browser that shows them.
type sdkSite struct {
	origin   string
	chromium *webtest.Chromium
}

func openSDKSite(t *testing.T) *sdkSite {
	t.Helper()
	mux := http.NewServeMux()
	for _, protobuf := range []bool{false, true} {
		build := centrifugeJSON
		if protobuf {
			build = centrifugeProtobuf
		}
		for name, file := range map[string]string{
			"centrifuge.js": build,
			"driver.js":     filepath.Join("testdata", "sdk", "driver.js"),
			"page.html":     filepath.Join("testdata", "sdk", "page.html"),
		} {
			mux.HandleFunc("GET /"+encodingName(protobuf)+"/"+name, func(w http.ResponseWriter, r *http.Request) {
				// As strict as a page may be: neither build needs more.
				w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src ws://127.0.0.1:* http://127.0.0.1:*")
				http.ServeFile(w, r, file)
			})
		}
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &sdkSite{origin: server.URL, chromium: webtest.Browser(t)}
}

func (s *sdkSite) page(protobuf bool) string {
	return s.origin + "/" + encodingName(protobuf) + "/page.html"
}
