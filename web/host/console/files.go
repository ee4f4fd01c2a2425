package console

import (
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"sync"

	"hongbao/web/page"
	"hongbao/web/page/bundle"
)

//go:embed static
var static embed.FS

// file is one file of the page.
type file struct {
	kind string
	data []byte
}

// The files of the page. Package bundle joins the modules; the view library is that of the page of users.
const (
	indexFile  = "index.html"
	scriptFile = "console.js"
	library    = "vendor/preact.mjs"
)

// pageFiles returns the files of the page by path.
var pageFiles = sync.OnceValues(func() (map[string]file, error) {
	modules := map[string][]byte{}
	err := fs.WalkDir(static, "static/app", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := static.ReadFile(name)
		modules[name[len("static/"):]] = data
		return err
	})
	if err != nil {
		return nil, err
	}
	joined, err := bundle.Join(bundle.Options{Files: modules, Entry: "app/main.js", Apart: []string{"vendor/"}, First: scriptFile, Later: "later.js"})
	if err != nil {
		return nil, err
	}
	files := map[string]file{scriptFile: newFile(scriptFile, joined.First)}
	for name, from := range map[string]string{"": indexFile, "style.css": "style.css", "icon.svg": "icon.svg"} {
		data, err := static.ReadFile("static/" + from)
		if err != nil {
			return nil, err
		}
		files[name] = newFile(from, data)
	}
	data, err := page.Static.ReadFile("static/" + library)
	files[library] = newFile(library, data)
	return files, err
})

func newFile(name string, data []byte) file {
	kind := mime.TypeByExtension(path.Ext(name))
	if path.Ext(name) == ".mjs" {
		kind = "text/javascript; charset=utf-8" // the MIME tables of some systems lack this extension
	}
	return file{kind, data}
}

// file serves a file of the page. Nothing of the console is kept by browsers, so a new version is there at once.
func (c *Console) file(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := c.files[name]
	switch {
	case !ok:
		http.NotFound(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the page can only be read", http.StatusMethodNotAllowed)
	default:
		w.Header().Set("Content-Type", f.kind)
		_, _ = w.Write(f.data) // an error means that the client has disconnected
	}
}
