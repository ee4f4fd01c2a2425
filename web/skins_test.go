package web

import (
	"bytes"
	"image"
	"image/png"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hongbao/web/page"
)

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 88"><circle cx="80" cy="44" r="30"/></svg>`

// skinFolder writes files into a folder. It returns the folder.
func skinFolder(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func pngOf(t *testing.T, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	noError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.String()
}

// TestSkinsOfTheHost serves drawings from a folder: the page must name them, browsers keep them, and a drawing that is opened alone may do nothing.
func TestSkinsOfTheHost(t *testing.T) {
	t.Parallel()
	skins, err := page.ReadSkins(skinFolder(t, map[string]string{"red-dragon.svg": drawing, "龙.png": pngOf(t, 10, 10), ".hidden": "x"}))
	noError(t, err)
	if len(skins) != 2 || skins[0].Name != "red-dragon" || skins[1].Name != "龙" {
		t.Fatalf("the folder has the skins %+v", skins)
	}
	handler := page.Handler(page.Facts{Skins: skins}, nil)
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w
	}
	for i, kind := range []string{"image/svg+xml", "image/png"} {
		w := get("/" + skins[i].URL)
		h := w.Header()
		if w.Code != 200 || h.Get("Content-Type") != kind || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") ||
			!strings.Contains(h.Get("Cache-Control"), "immutable") {
			t.Errorf("%s is served with %d %v", skins[i].URL, w.Code, h)
		}
	}
	if facts := get("/page.json").Body.String(); !strings.Contains(facts, `"skins":[{"name":"red-dragon","url":"skins/`) {
		t.Errorf("page.json is %s", facts)
	}
}

// TestBadSkinsAreRefused reads folders with something wrong. Each error must name it.
func TestBadSkinsAreRefused(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for _, c := range "abcdefghijklm" {
		many[string(c)+".svg"] = drawing
	}
	for want, files := range map[string]map[string]string{
		"the folder has 0 drawings, and must have 1 to 12":        {},
		"the folder has 13 drawings, and must have 1 to 12":       many,
		"a.gif: a drawing is a file .svg or .png":                 {"a.gif": "GIF89a"},
		"a b.svg: the name of a skin has 1 to 24 letters":         {"a b.svg": drawing},
		"a.svg: a drawing has at most 65536 bytes":                {"a.svg": drawing + strings.Repeat(" ", 65536)},
		"a.svg: is no SVG: it begins with the element \"html\"":   {"a.svg": "<html></html>"},
		"a.svg: is no SVG: XML syntax error":                      {"a.svg": "<svg>"},
		"a.svg: has an element script":                            {"a.svg": "<svg><script/></svg>"},
		"a.svg: has an attribute onload":                          {"a.svg": `<svg onload="x()"/>`},
		"a.svg: refers to \"https://example.com/x.png\"":          {"a.svg": `<svg><image href="https://example.com/x.png"/></svg>`},
		"a.png: is no PNG":                                        {"a.png": drawing},
		"a.png: has 2000 by 10 pixels, and may have 1024 by 1024": {"a.png": pngOf(t, 2000, 10)},
		"there are two drawings with the name a":                  {"a.png": pngOf(t, 10, 10), "a.svg": drawing},
	} {
		if _, err := page.ReadSkins(skinFolder(t, files)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
	}
	if _, err := page.ReadSkins(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing folder: %v", err)
	}
}
