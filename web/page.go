package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// page serves the browser client, and the JavaScript SDK, which pages of other hosts may load.
func (s *Server) page() http.Handler {
	files := maps.Clone(embeddedFiles())
	hosts := slices.AppendSeq([]string{}, maps.Keys(s.origins)) // an empty list, never null
	slices.Sort(hosts)
	policy := pagePolicy(hosts)
	facts, err := json.Marshal(pageFacts{Guests: len(s.o.Guests.Key) > 0, Hosts: hosts, Version: s.o.Version})
	if err != nil {
		panic(err) // strings can always be encoded
	}
	files["page.json"] = newPageFile("page.json", facts)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		file, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
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

// pageFacts is what the page must know before the user signs in.
type pageFacts struct {
	Guests  bool     `json:"guests"`
	Hosts   []string `json:"hosts"` // origins whose pages may send a token to this page
	Version string   `json:"version"`
}

// pagePolicy returns the Content-Security-Policy. The page may load from and connect to its own origin only. Only pages
// of the hosts may show it in a frame.
func pagePolicy(hosts []string) string {
	ancestors := "'none'"
	if len(hosts) > 0 {
		ancestors = strings.Join(hosts, " ")
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + ancestors
}
