package bundle

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// SDKFolder is the address of the SDK for pages of hosts. It names the major version of the npm package: a version that breaks
// its callers gets another folder beside this one.
const SDKFolder = "sdk/v1/"

// File is one file of the page. It is an http.Handler.
type File struct {
	Plain []byte // not compressed

	kind    string
	tag     string
	zipped  []byte // nil: the file is not compressed, or compression would not make it smaller
	forever bool   // its address changes with its content, so that browsers may cache it permanently
}

// Uncompressed returns a file that is not compressed.
func Uncompressed(name string, data []byte) File {
	sum := sha256.Sum256(data)
	kind := mime.TypeByExtension(path.Ext(name))
	if path.Ext(name) == ".webmanifest" {
		kind = "application/manifest+json" // the MIME tables of some systems lack this extension
	}
	return File{kind: kind, tag: `W/"` + hex.EncodeToString(sum[:8]) + `"`, Plain: data}
}

// Permanent returns a file whose address changes with its content.
func Permanent(name string, data []byte) File {
	f := newFile(name, data)
	f.forever = true
	return f
}

func newFile(name string, data []byte) File {
	f := Uncompressed(name, data)
	var zipped bytes.Buffer
	w, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // writing to memory does not fail
	}
	if zipped.Len() < len(data) {
		f.zipped = zipped.Bytes()
	}
	return f
}

// Files returns the files of the folder static by path, and the files that joinFiles adds. It compresses them. Each file but sw.js also has a second path,
// in a folder named after a hash of all files of static. The page loads its files from that folder, so that browsers cache them
// until any file changes.
func Files(static fs.FS) (map[string]File, error) {
	files := map[string]File{}
	version := sha256.New()
	err := fs.WalkDir(static, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(static, name)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(version, "%s %d\n%s", name, len(data), data) // writing to a hash does not fail
		files[name] = newFile(name, data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	index, err := joinFiles(files)
	if err != nil {
		return nil, err
	}
	folder := hex.EncodeToString(version.Sum(nil)[:8]) + "/"
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		f.forever = true
		files[folder+name] = f
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if rest, ok := strings.CutPrefix(name, "sdk/"); ok {
			files[SDKFolder+rest] = files[name]
		}
	}
	files[SDKFolder+"centrifuge.js"] = files["vendor/centrifuge.js"]
	files[""] = newFile("index.html", pointTo(folder, index))
	delete(files, "index.html")
	files["sw.js"] = newFile("sw.js", serviceWorker(folder, files))
	return files, nil
}

// serviceWorker returns the script of the service worker, with the name of the folder and the list of its files that the worker
// caches. The script is served outside of the folder: its address must not change, and a worker serves only pages below its own
// address.
func serviceWorker(folder string, files map[string]File) []byte {
	delete(files, folder+"sw.js")
	var cached []string
	for name := range files {
		if rest, ok := strings.CutPrefix(name, folder); ok && isCached(rest) {
			cached = append(cached, name)
		}
	}
	slices.Sort(cached)
	return []byte(strings.NewReplacer(
		"const version = 'none'", "const version = '"+strings.TrimSuffix(folder, "/")+"'",
		"const files = []", "const files = ['"+strings.Join(cached, "', '")+"']",
	).Replace(string(files["sw.js"].Plain)))
}

// isCached reports whether the service worker caches a file for use while the server cannot be reached. It leaves out HTML and
// text files, the SDK, and the scripts below app/ except app/words/, because joined files contain them.
func isCached(name string) bool {
	switch path.Ext(name) {
	case ".html", ".txt":
		return false
	case ".js":
		return strings.HasPrefix(name, "app/words/") || !strings.HasPrefix(name, "app/") && !strings.HasPrefix(name, "sdk/")
	}
	return true
}

// The joined files that the page loads. Package bundle makes the scripts, joinFiles the style.
const (
	FirstScript = "page.js"
	LaterScript = "more.js"
	joinedStyle = "style/page.css" // beside the styles that it joins, so that the pictures they name are found
)

var styleSheet = regexp.MustCompile(`(?m)^ *<link rel="stylesheet" href="([^"]+)">\n`)

// joinFiles adds files that hold many others, and returns the page that loads them.
func joinFiles(files map[string]File) (index []byte, err error) {
	plain := map[string][]byte{}
	for name, f := range files {
		plain[name] = f.Plain
	}
	joined, err := Join(Options{
		Files: plain, Entry: "app/main.js", Apart: []string{"vendor/", "app/words/"}, First: FirstScript, Later: LaterScript,
	})
	if err != nil {
		return nil, err
	}
	files[FirstScript] = newFile(FirstScript, joined.First)
	files[LaterScript] = newFile(LaterScript, joined.Later)
	index = plain["index.html"]
	var styles, links bytes.Buffer
	for _, found := range styleSheet.FindAllSubmatch(index, -1) {
		styles.Write(plain[string(found[1])])
	}
	files[joinedStyle] = newFile(joinedStyle, styles.Bytes())
	fmt.Fprintf(&links, "  <link rel=\"stylesheet\" href=\"%s\">\n", joinedStyle)
	for _, name := range joined.Apart {
		fmt.Fprintf(&links, "  <link rel=\"modulepreload\" href=\"%s\">\n", name)
	}
	index = styleSheet.ReplaceAll(index, nil)
	index = bytes.Replace(index, []byte(`src="app/main.js"`), []byte(`src="`+FirstScript+`"`), 1)
	return bytes.Replace(index, []byte("  <script"), append(links.Bytes(), "  <script"...), 1), nil
}

var ownFile = regexp.MustCompile(`(href|src)="([a-z-]+[./])`)

// pointTo changes the page to load its files from a folder.
func pointTo(folder string, index []byte) []byte {
	return ownFile.ReplaceAll(index, []byte(`$1="`+folder+`$2`))
}

// ServeHTTP serves the file to pages of any origin, because pages of hosts load the SDK from this server.
func (f File) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cache-Control", "no-cache") // browsers revalidate, so they notice a new version at once
	if f.forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if strings.Contains(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.Plain
	if f.zipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // an error means that the client has disconnected
	}
}
