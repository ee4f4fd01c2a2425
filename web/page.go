package web

import (
	"embed"
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"hongbao/web/bundle"
)

// page serves the page, which is the browser client, and the JavaScript SDK, which pages of any origin may load.
func (s *Server) page() http.Handler {
	files := pageFiles()
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
func (facts pageFacts) now(lobby func() Lobby) bundle.File {
	if lobby != nil {
		facts.Lobby = new(lobby())
	}
	data, err := json.Marshal(facts)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return bundle.Uncompressed(factsFile, data)
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

// pageFiles returns the files of the page by path. It makes them once per process. Compressing all files takes 80 ms, or 600 ms under the
// race detector: too much for each test server.
var pageFiles = sync.OnceValue(func() map[string]bundle.File {
	folder, err := fs.Sub(static, "static")
	var files map[string]bundle.File
	if err == nil {
		files, err = bundle.Files(folder)
	}
	if err != nil {
		panic(err) // the files are embedded in the program, and a test joins them
	}
	return files
})
