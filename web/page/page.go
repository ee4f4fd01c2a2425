// Package page serves the page, which is the browser client, and the JavaScript SDK, which pages of any origin may load. Both are in
// the folder static, which is no Go package.
//
// It must always hold: scripts come from the server's own origin only, and only pages of the hosts may show the page in a frame.
package page

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"hongbao/web/page/bundle"
)

// Facts is what the page must know before the user signs in.
type Facts struct {
	Guests    bool     `json:"guests"`
	Pictures  bool     `json:"pictures,omitempty"`   // users may upload pictures
	PlayMoney bool     `json:"play_money,omitempty"` // all money of the server is play money
	Lobby     *Lobby   `json:"lobby,omitempty"`
	Hosts     []string `json:"hosts"`           // origins whose pages may send a token to this page; never null
	Skins     []Skin   `json:"skins,omitempty"` // that the host brings
	Version   string   `json:"version"`

	// FileOrigin is the origin from which browsers read files, such as https://files.example.com, if that is not the server itself: requests for
	// files are redirected there. Only the Content-Security-Policy needs it.
	FileOrigin string `json:"-"`
}

// Lobby is where the page leads newcomers: a public room, and the newest welcome packet in it.
type Lobby struct {
	Room   string `json:"room"`
	Packet string `json:"packet,omitempty"` // "": none is known
}

// factsFile is the address of the Facts.
const factsFile = "page.json"

// Handler serves the files, and the facts with the present lobby. With lobby nil there is none.
func Handler(facts Facts, lobby func() Lobby) http.Handler {
	files := Files()
	policy := policy(facts)
	skins := map[string]bundle.File{}
	for _, s := range facts.Skins {
		skins[s.URL] = s.file
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		name := strings.TrimPrefix(r.URL.Path, "/")
		file, ok := files[name]
		if name == factsFile {
			file, ok = facts.now(lobby), true
		}
		if skin, found := skins[name]; found {
			file, ok = skin, true
			w.Header().Set("Content-Security-Policy", skinPolicy)
			w.Header().Set("X-Content-Type-Options", "nosniff")
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

// now returns the facts as a file. They include the present lobby, if there is one.
func (facts Facts) now(lobby func() Lobby) bundle.File {
	if lobby != nil {
		facts.Lobby = new(lobby())
	}
	data, err := json.Marshal(facts)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return bundle.Uncompressed(factsFile, data)
}

// policy returns the Content-Security-Policy. The page may load from and connect to its own origin only. Images may also be
// data URLs, because the page draws the icon of its tab itself. Pictures and recordings may also be blobs, which the user is about to send, and come
// from the origin of the files. Only pages of the hosts may show the page in a frame.
func policy(facts Facts) string {
	ancestors := "'none'"
	if len(facts.Hosts) > 0 {
		ancestors = strings.Join(facts.Hosts, " ")
	}
	files := "'self' blob:"
	if facts.FileOrigin != "" {
		files += " " + facts.FileOrigin
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src " + files + " data:; media-src " + files +
		"; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " + ancestors
}

// Static has the files as they are in the folder. Of the SDK's folder only the .js files are served; the other files are for its npm package.
//
//go:embed static/*.* static/app static/avatars static/emoji static/style static/vendor static/sdk/*.js
var Static embed.FS

// Files returns the files of the page by path. It makes them once per process. Compressing all files takes 80 ms, or 600 ms under the
// race detector: too much for each test server.
var Files = sync.OnceValue(func() map[string]bundle.File {
	folder, err := fs.Sub(Static, "static")
	var files map[string]bundle.File
	if err == nil {
		files, err = bundle.Files(folder)
	}
	if err != nil {
		panic(err) // the files are embedded in the program, and a test joins them
	}
	return files
})
