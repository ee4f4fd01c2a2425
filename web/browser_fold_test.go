package web_test

import (
	"net/http"
	"testing"
)

// TestBrowserFold runs what the page knows of a timeline without the page: the modules in testdata/app.
func TestBrowserFold(t *testing.T) {
	site, mux := sdkSite(t)
	for path, dir := range map[string]string{"/app/": "static/app", "/test/app/": "testdata/app"} {
		mux.Handle("GET "+path, http.StripPrefix(path, http.FileServer(http.Dir(dir))))
	}
	runModules(t, site.URL, "app/fold")
}
