package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
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
	"sync"

	"hongbao/web/bundle"
)

// page serves the page, which is the browser client, and the JavaScript SDK, which pages of any origin may load.
func (s *Server) page() http.Handler {
	files := maps.Clone(embeddedFiles())
	hosts := slices.AppendSeq([]string{}, maps.Keys(s.origins.listed)) // an empty list, never null
	slices.Sort(hosts)
	policy := pagePolicy(hosts)
	facts := pageFacts{Guests: s.guests.On(), Pictures: !s.o.NoPictures, PlayMoney: s.guests.On() && s.o.Guests.Credit > 0, Hosts: hosts, Version: s.o.Version}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		name := strings.TrimPrefix(r.URL.Path, "/")
		file, ok := files[name]
		if name == factsFile {
			file, ok = facts.now(s.o.Lobby), true
		}
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the page can only be read", http.StatusMethodNotAllowed)
		default:
			file.ServeHTTP(w, r)
		}
	})
}

// factsFile is the address of the pageFacts.
const factsFile = "page.json"

// pageFacts is what the page must know before the user signs in.
type pageFacts struct {
	Guests    bool     `json:"guests"`
	Pictures  bool     `json:"pictures,omitempty"`   // users may upload pictures
	PlayMoney bool     `json:"play_money,omitempty"` // all money of the server is play money
	Lobby     *Lobby   `json:"lobby,omitempty"`
	Hosts     []string `json:"hosts"` // origins whose pages may send a token to this page
	Version   string   `json:"version"`
}

// Lobby is where the page leads newcomers: a public room, and the newest welcome packet in it.
type Lobby struct {
	Room   string `json:"room"`
	Packet string `json:"packet,omitempty"` // "": none is known
}

// now returns the facts as a file. They include the present lobby, if there is one.
func (facts pageFacts) now(lobby func() Lobby) pageFile {
	if lobby != nil {
		facts.Lobby = new(lobby())
	}
	data, err := json.Marshal(facts)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return plainFile(factsFile, data)
}

// pagePolicy returns the Content-Security-Policy. The page may load from and connect to its own origin only. Images may also be
// data URLs, because the page draws the icon of its tab itself. Only pages of the hosts may show the page in a frame.
func pagePolicy(hosts []string) string {
	ancestors := "'none'"
	if len(hosts) > 0 {
		ancestors = strings.Join(hosts, " ")
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + ancestors
}

// Of the SDK's folder only the .js files are served; the other files are for its npm package.
//
//go:embed static/*.* static/app static/avatars static/emoji static/style static/vendor static/sdk/*.js
var static embed.FS

// sdkFolder is the address of the SDK for pages of hosts. It names the major version of the npm package: a version that breaks
// its callers gets another folder beside this one.
const sdkFolder = "sdk/v1/"

// pageFile is one file of the page. newPageFile compresses it, once per process; plainFile does not.
type pageFile struct {
	kind    string
	tag     string
	plain   []byte
	zipped  []byte // nil: the file is not compressed, or compression would not make it smaller
	forever bool   // its address changes with its content, so that browsers may cache it permanently
}

// plainFile returns a file that is not compressed.
func plainFile(name string, data []byte) pageFile {
	sum := sha256.Sum256(data)
	kind := mime.TypeByExtension(path.Ext(name))
	if path.Ext(name) == ".webmanifest" {
		kind = "application/manifest+json" // the MIME tables of some systems lack this extension
	}
	return pageFile{kind: kind, tag: `W/"` + hex.EncodeToString(sum[:8]) + `"`, plain: data}
}

func newPageFile(name string, data []byte) pageFile {
	f := plainFile(name, data)
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

// embeddedFiles returns the result of newPageFiles, which it calls once per process. Compressing all files takes 80 ms,
// or 600 ms under the race detector: too much for each test server.
var embeddedFiles = sync.OnceValue(newPageFiles)

// newPageFiles returns the embedded files by path, and the files that joinFiles adds. Each file but sw.js also has a second path,
// in a folder named after a hash of all embedded files. The page loads its files from that folder, so that browsers cache them
// until any file changes.
func newPageFiles() map[string]pageFile {
	files := map[string]pageFile{}
	version := sha256.New()
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "static/")
		_, _ = fmt.Fprintf(version, "%s %d\n%s", name, len(data), data) // writing to a hash does not fail
		files[name] = newPageFile(name, data)
		return nil
	})
	if err != nil {
		panic(err) // the files are embedded in the program
	}
	index, err := joinFiles(files)
	if err != nil {
		panic(err) // the files are embedded in the program, and a test joins them
	}
	folder := hex.EncodeToString(version.Sum(nil)[:8]) + "/"
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		f.forever = true
		files[folder+name] = f
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if rest, ok := strings.CutPrefix(name, "sdk/"); ok {
			files[sdkFolder+rest] = files[name]
		}
	}
	files[sdkFolder+"centrifuge.js"] = files["vendor/centrifuge.js"]
	files[""] = newPageFile("index.html", pointTo(folder, index))
	delete(files, "index.html")
	files["sw.js"] = newPageFile("sw.js", serviceWorker(folder, files))
	return files
}

// serviceWorker returns the script of the service worker, with the name of the folder and the list of its files that the worker
// caches. The script is served outside of the folder: its address must not change, and a worker serves only pages below its own
// address.
func serviceWorker(folder string, files map[string]pageFile) []byte {
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
	).Replace(string(files["sw.js"].plain)))
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
	firstScript = "page.js"
	laterScript = "more.js"
	joinedStyle = "style/page.css" // beside the styles that it joins, so that the pictures they name are found
)

var styleSheet = regexp.MustCompile(`(?m)^ *<link rel="stylesheet" href="([^"]+)">\n`)

// joinFiles adds files that hold many others, and returns the page that loads them.
func joinFiles(files map[string]pageFile) (index []byte, err error) {
	plain := map[string][]byte{}
	for name, f := range files {
		plain[name] = f.plain
	}
	joined, err := bundle.Join(bundle.Options{
		Files: plain, Entry: "app/main.js", Apart: []string{"vendor/", "app/words/"}, First: firstScript, Later: laterScript,
	})
	if err != nil {
		return nil, err
	}
	files[firstScript] = newPageFile(firstScript, joined.First)
	files[laterScript] = newPageFile(laterScript, joined.Later)
	index = plain["index.html"]
	var styles, links bytes.Buffer
	for _, found := range styleSheet.FindAllSubmatch(index, -1) {
		styles.Write(plain[string(found[1])])
	}
	files[joinedStyle] = newPageFile(joinedStyle, styles.Bytes())
	fmt.Fprintf(&links, "  <link rel=\"stylesheet\" href=\"%s\">\n", joinedStyle)
	for _, name := range joined.Apart {
		fmt.Fprintf(&links, "  <link rel=\"modulepreload\" href=\"%s\">\n", name)
	}
	index = styleSheet.ReplaceAll(index, nil)
	index = bytes.Replace(index, []byte(`src="app/main.js"`), []byte(`src="`+firstScript+`"`), 1)
	return bytes.Replace(index, []byte("  <script"), append(links.Bytes(), "  <script"...), 1), nil
}

var ownFile = regexp.MustCompile(`(href|src)="([a-z-]+[./])`)

// pointTo changes the page to load its files from a folder.
func pointTo(folder string, index []byte) []byte {
	return ownFile.ReplaceAll(index, []byte(`$1="`+folder+`$2`))
}

// ServeHTTP serves the file to pages of any origin, because pages of hosts load the SDK from this server.
func (f pageFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	body := f.plain
	if f.zipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // an error means that the client has disconnected
	}
}
