package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// page serves the browser client, and the SDK under it to pages of others.
func (s *Server) page() http.Handler {
	files := newPageFiles()
	hosts := slices.AppendSeq([]string{}, maps.Keys(s.origins)) // never null
	slices.Sort(hosts)
	policy := pagePolicy(hosts)
	facts, err := json.Marshal(pageFacts{Guests: len(s.o.Guests.Key) > 0, Hosts: hosts, Version: s.o.Version})
	if err != nil {
		panic(err) // strings
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

// pageFacts is what the page asks before anybody has signed in.
type pageFacts struct {
	Guests  bool     `json:"guests"`
	Hosts   []string `json:"hosts"` // origins whose pages may give it a token
	Version string   `json:"version"`
}

// pagePolicy lets the page load and call nothing but its own origin; pages of the hosts may frame it.
func pagePolicy(hosts []string) string {
	ancestors := "'none'"
	if len(hosts) > 0 {
		ancestors = strings.Join(hosts, " ")
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors " + ancestors
}
