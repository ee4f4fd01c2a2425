package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"hongbao/store/enginetest"
)

// appPolicy is the Content-Security-Policy for the tests of the page's modules. It allows no more than the policy of
// the real page.
const appPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"

// appPage is the page without any content.
const appPage = `<!doctype html><title>parts</title><link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/style/tokens.css">
<link rel="stylesheet" href="/style/base.css"><link rel="stylesheet" href="/style/layout.css"><link rel="stylesheet" href="/style/timeline.css">
<body><div id="app"><div class="shell" data-room="yes"><main class="room"></main></div></div>`

// TestBrowserFold runs the tests of single modules of the page in a browser. The tests are modules in testdata/app.
func TestBrowserFold(t *testing.T) {
	enginetest.Nightly(t, "page")
	runModules(t, appSite(t), "app/fold", "app/text", "app/place", "app/told", "app/stored", "app/hostile", "app/opening", "app/skins", "app/qr", "app/compose", "app/emojis", "app/search", "app/markup", "app/draws", "app/early")
}

// appSite serves the files of the page and the test modules. It returns the URL.
func appSite(t *testing.T) (url string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(appPage)) })
	for path, dir := range map[string]string{"/": "page/static", "/test/": "testdata/sdk", "/test/app/": "testdata/app"} {
		mux.Handle("GET "+path, http.StripPrefix(path[:len(path)-1], http.FileServer(http.Dir(dir))))
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", appPolicy)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(site.Close)
	return site.URL
}
