package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hongbao/redpacket"
	"hongbao/web/page"
	"hongbao/web/page/bundle"
	"hongbao/web/wire"
)

// TestChineseHasItsOwnPunctuation reads the Chinese texts of the page and the usual greeting. None may have a comma or the like of the Latin script.
func TestChineseHasItsOwnPunctuation(t *testing.T) {
	t.Parallel()
	words, err := page.Static.ReadFile("static/app/words/zh.js")
	noError(t, err)
	if !strings.Contains(string(words), "usualGreeting: '"+redpacket.DefaultGreeting+"'") {
		t.Errorf("the page does not call %q the usual greeting", redpacket.DefaultGreeting)
	}
	for _, found := range regexp.MustCompile(`.*(?:\p{Han}[,;:!?]|[,;:!?]\p{Han}).*`).FindAllString(string(words)+redpacket.DefaultGreeting, -1) {
		t.Errorf("Latin punctuation in %s", found)
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	h := newTestServer(t).Handler()
	for path, kind := range map[string]string{
		"/": "text/html", "/app/main.js": "text/javascript", "/style/base.css": "text/css", "/vendor/preact.mjs": "text/javascript", "/icon.svg": "image/svg",
	} {
		r := ask(t, h, "GET", path, "", "")
		policy := r.Header.Get("Content-Security-Policy")
		if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), kind) || r.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(r.Header.Get("Permissions-Policy"), "microphone=(self)") ||
			!strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || !strings.HasSuffix(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	if r := ask(t, h, "GET", "/nothing", "", ""); r.StatusCode != 404 {
		t.Errorf("/nothing: %d", r.StatusCode)
	}
	if r := ask(t, h, "POST", "/", "", ""); r.StatusCode != 405 {
		t.Errorf("POST of the page: %d", r.StatusCode)
	}
	mustAnswer[wire.ErrorBody](t, ask(t, h, "GET", "/v1/nothing", "", ""), 404)
	if r := ask(t, h, "GET", "/v1/commands/wallet", "", ""); r.StatusCode != 405 {
		t.Errorf("GET of a command: %d", r.StatusCode)
	}
}

// TestPageLoads requests all files that the page refers to. Each must exist and be cacheable permanently, and together
// they must be small when compressed.
func TestPageLoads(t *testing.T) {
	t.Parallel()
	h := newTestServer(t).Handler()
	index := zipped(t, h, "/")
	loaded := map[string]bool{}
	total := len(index.packed)
	for _, name := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllSubmatch(index.plain, -1) {
		path := "/" + string(name[1])
		if loaded[path] {
			continue
		}
		loaded[path] = true
		file := zipped(t, h, path)
		total += len(file.packed)
		if !strings.Contains(file.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s is asked for again at each visit", path)
		}
	}
	t.Logf("%d files, %d bytes compressed", len(loaded)+1, total)
	if len(loaded) < 6 || len(loaded) > 9 || total > 200_000 {
		t.Errorf("the page loads %d files with %d bytes, want 7 to 10 and at most 200,000", len(loaded)+1, total)
	}
}

// TestPageModules checks that every module that another one imports exists.
func TestPageModules(t *testing.T) {
	files := page.Files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(name, "app/") && !strings.HasPrefix(name, "sdk/") {
			continue
		}
		for _, target := range regexp.MustCompile(`(?:from |import\()'(\.[^']+)'`).FindAllSubmatch(files[name].Plain, -1) {
			if _, ok := files[path.Join(path.Dir(name), string(target[1]))]; !ok {
				t.Errorf("%s imports %s, which is not there", name, target[1])
			}
		}
	}
	first, later := string(files[bundle.FirstScript].Plain), string(files[bundle.LaterScript].Plain)
	for _, name := range []string{"app/main.js", "app/views/wallet.js"} {
		inFirst, inLater := strings.Contains(first, "{ // "+name), strings.Contains(later, "{ // "+name)
		if isMain := name == "app/main.js"; inFirst != isMain || inLater == isMain {
			t.Errorf("%s is in the first script: %v, in the later one: %v", name, inFirst, inLater)
		}
	}
}

func TestPageUnchanged(t *testing.T) {
	t.Parallel()
	h := newTestServer(t).Handler()
	first := ask(t, h, "GET", "/", "", "")
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("If-None-Match", first.Header.Get("ETag"))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("the page that a browser has: %d, %d bytes", w.Code, w.Body.Len())
	}
}

func TestPageWithoutHosts(t *testing.T) {
	t.Parallel()
	r := ask(t, newTestServer(t).Handler(), "GET", "/page.json", "", "")
	facts, err := io.ReadAll(r.Body)
	if err != nil || !strings.Contains(string(facts), `"guests":false,"pictures":true,"hosts":[]`) {
		t.Errorf("page.json says %s, %v", facts, err)
	}
}

// TestPageLoadsFiles looks at the policy of a page whose files are on another origin: only pictures and recordings may come from there.
func TestPageLoadsFiles(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{"": "'self' blob:", "https://files.example": "'self' blob: https://files.example"} {
		w := httptest.NewRecorder()
		page.Handler(page.Facts{FileOrigin: origin}, nil).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(policy, "; img-src "+want+" data:; media-src "+want+"; connect-src 'self';") || strings.Contains(w.Body.String(), "files.example") {
			t.Errorf("files of %q: the policy is %s", origin, policy)
		}
	}
}

func TestPageOfHosts(t *testing.T) {
	t.Parallel()
	h := newTestServer(t, func(o *Options) {
		o.Guests.Key = testSecret
		o.AllowedOrigins = []string{"https://shop.example"}
		o.Version = "1.2"
	}).Handler()
	r := ask(t, h, "GET", "/page.json", "", "")
	var facts page.Facts
	noError(t, json.NewDecoder(r.Body).Decode(&facts))
	if !facts.Guests || !slices.Equal(facts.Hosts, []string{"https://shop.example"}) || facts.Version != "1.2" {
		t.Errorf("page.json says %+v", facts)
	}
	if policy := r.Header.Get("Content-Security-Policy"); !strings.HasSuffix(policy, "frame-ancestors https://shop.example") {
		t.Errorf("policy %q", policy)
	}
}

type packed struct {
	packed, plain []byte
	header        http.Header
}

// zipped requests a file with the headers that browsers send.
func zipped(t *testing.T, h http.Handler, path string) packed {
	t.Helper()
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Accept-Encoding", "gzip, deflate, br")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	p := packed{packed: w.Body.Bytes(), plain: w.Body.Bytes(), header: w.Header()}
	if w.Code != 200 {
		t.Fatalf("%s: %d", path, w.Code)
	}
	if w.Header().Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(p.packed))
		noError(t, err)
		if p.plain, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestServiceWorker looks at the service worker: browsers must ask for it at each visit, and it must name the version of the page and only
// files that exist.
func TestServiceWorker(t *testing.T) {
	t.Parallel()
	h := newTestServer(t).Handler()
	worker, index := zipped(t, h, "/sw.js"), string(zipped(t, h, "/").plain)
	if got := worker.header.Get("Cache-Control"); got != "no-cache" || !strings.Contains(worker.header.Get("Content-Security-Policy"), "worker-src 'self'") {
		t.Errorf("the worker has Cache-Control %q, and the policy %q", got, worker.header.Get("Content-Security-Policy"))
	}
	version := regexp.MustCompile(`const version = '([0-9a-f]{16})';`).FindSubmatch(worker.plain)
	if version == nil || !strings.Contains(index, `src="`+string(version[1])+`/page.js"`) {
		t.Fatalf("the page is not of the version %s", version)
	}
	names := regexp.MustCompile(`const files = \['(.*)'\];`).FindSubmatch(worker.plain)
	if names == nil {
		t.Fatal("the worker names no files")
	}
	files := strings.Split(string(names[1]), "', '")
	for _, name := range files {
		if zipped(t, h, "/"+name).header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s is not of a version", name)
		}
	}
	for _, name := range []string{"page.js", "more.js", "app/words/zh.js", "style/page.css", "vendor/preact.mjs", "icon.svg"} {
		if !slices.Contains(files, string(version[1])+"/"+name) {
			t.Errorf("%s is not there without the server", name)
		}
	}
	var manifest struct {
		Start string `json:"start_url"`
		Icons []struct{ Src, Sizes string }
	}
	m := zipped(t, h, "/"+string(version[1])+"/manifest.webmanifest")
	if err := json.Unmarshal(m.plain, &manifest); err != nil || manifest.Start != "../" || m.header.Get("Content-Type") != "application/manifest+json" {
		t.Errorf("the manifest %+v of the type %q, %v", manifest, m.header.Get("Content-Type"), err)
	}
	for _, icon := range manifest.Icons {
		data := zipped(t, h, "/"+string(version[1])+"/"+icon.Src).plain
		if !strings.HasSuffix(icon.Src, ".png") {
			continue
		}
		if c, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || fmt.Sprintf("%dx%d", c.Width, c.Height) != icon.Sizes {
			t.Errorf("%s has %dx%d pixels, want %s, %v", icon.Src, c.Width, c.Height, icon.Sizes, err)
		}
	}
}

// TestVersionedSDK reads the SDK from its versioned address, as pages of hosts do: every module and every import of it. The number in
// the address is the major version of the npm package, whose other files are not served.
func TestVersionedSDK(t *testing.T) {
	t.Parallel()
	h := newTestServer(t).Handler()
	imported := regexp.MustCompile(`(?m)^(?:import|export) .*from '\./([^']+)';$`)
	read, open := map[string]bool{}, []string{"index.js", "centrifuge.js"}
	for len(open) > 0 {
		name := open[0]
		open = open[1:]
		if read[name] {
			continue
		}
		read[name] = true
		r := ask(t, h, "GET", "/sdk/v1/"+name, "", "")
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 200 || r.Header.Get("Access-Control-Allow-Origin") != "*" || r.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("/sdk/v1/%s: %d %v, %v", name, r.StatusCode, r.Header, err)
		}
		for _, found := range imported.FindAllSubmatch(body, -1) {
			open = append(open, string(found[1]))
		}
	}
	if len(read) < 15 {
		t.Errorf("%d files of the SDK were read, want all 18", len(read))
	}
	var npm struct{ Version string }
	text, err := os.ReadFile("page/static/sdk/package.json")
	if err == nil {
		err = json.Unmarshal(text, &npm)
	}
	if major, _, _ := strings.Cut(npm.Version, "."); err != nil || bundle.SDKFolder != "sdk/v"+major+"/" {
		t.Errorf("version %q of the package, %v, and the address %s", npm.Version, err, bundle.SDKFolder)
	}
	for _, name := range []string{"package.json", "npm.mjs", "types/npm.d.mts"} {
		if r := ask(t, h, "GET", "/sdk/"+name, "", ""); r.StatusCode != 404 {
			t.Errorf("/sdk/%s: %d, want 404", name, r.StatusCode)
		}
	}
}
