package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// TestNothingIsMissing checks that the protocol's pages and the golden frames cover every command, push, kind and endpoint.
// What is generated needs no such test; tests in package spec check its documents.
func TestNothingIsMissing(t *testing.T) {
	text := protocolText(t)
	missing := func(in, what string) { t.Errorf("%s is not in %s", what, in) }
	frame := func(name string) {
		if _, err := os.Stat(filepath.Join("wire", "testdata", name+".json")); err != nil {
			if more, _ := filepath.Glob(filepath.Join("wire", "testdata", name+"-*.json")); len(more) == 0 {
				missing("the golden frames", name)
			}
		}
	}
	for _, m := range wire.Methods {
		frame("reply-" + m.Name)
	}
	for _, e := range wire.Endpoints {
		if route := e.Verb + " " + e.Path; !strings.Contains(text, route) {
			missing("docs/protocol", route)
		}
	}
	for _, k := range wire.Kinds {
		frame("push-" + k.Kind)
	}
	for _, p := range wire.Pushes() {
		frame("push-" + p.Name)
	}
}

// protocolText returns the pages of the protocol as one line, so that a test finds a phrase wherever its lines break.
func protocolText(t *testing.T) string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join("docs", "protocol", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages of the protocol: %v, %v", pages, err)
	}
	var words []string
	for _, page := range pages {
		text, err := os.ReadFile(page)
		noError(t, err)
		words = append(words, strings.Fields(string(text))...)
	}
	return strings.Join(words, " ")
}
