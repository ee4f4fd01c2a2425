package sdk

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"hongbao/web/webtest"
)

// The two builds of the npm package centrifuge. Our own page uses the first.
var (
	centrifugeJSON     = filepath.Join("..", "..", "..", "..", "web", "page", "static", "vendor", "centrifuge.js")
	centrifugeProtobuf = filepath.Join("testdata", "centrifuge.protobuf.js")
)

// site serves pages with an SDK from another origin than any server's, and has the browser that opens them.
type site struct {
	origin   string
	chromium *webtest.Chromium
}

func openSite(t *testing.T) *site {
	t.Helper()
	mux := http.NewServeMux()
	for _, protobuf := range []bool{false, true} {
		build := centrifugeJSON
		if protobuf {
			build = centrifugeProtobuf
		}
		for name, file := range map[string]string{
			"centrifuge.js": build,
			"driver.js":     filepath.Join("testdata", "driver.js"),
			"page.html":     filepath.Join("testdata", "page.html"),
		} {
			mux.HandleFunc("GET /"+encodingName(protobuf)+"/"+name, func(w http.ResponseWriter, r *http.Request) {
				// The strictest policy that a page with an SDK may have: neither build needs more.
				w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src ws://127.0.0.1:* http://127.0.0.1:*")
				http.ServeFile(w, r, file)
			})
		}
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &site{origin: server.URL, chromium: webtest.Browser(t)}
}

func (s *site) page(protobuf bool) string {
	return s.origin + "/" + encodingName(protobuf) + "/page.html"
}
