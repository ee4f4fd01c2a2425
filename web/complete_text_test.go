package web

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// TestNothingIsMissing checks that the protocol's pages and the golden frames cover every command, push, kind and code.
// Tests in package spec check its documents.
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
		if !strings.Contains(text, "`"+m.Name+"`") {
			missing("docs/protocol", m.Name)
		}
	}
	for _, e := range wire.Endpoints {
		if route := e.Verb + " " + e.Path; !strings.Contains(text, route) {
			missing("docs/protocol", route)
		}
	}
	for _, k := range wire.Kinds {
		frame("push-" + k.Kind)
		if !strings.Contains(text, "`"+k.Kind+"` ") {
			missing("docs/protocol", k.Kind)
		}
	}
	for _, p := range wire.PushNames {
		frame("push-" + p.Name)
		if !strings.Contains(text, "`"+p.Name+" {") && !strings.Contains(text, "`"+p.Name+"` (") {
			missing("docs/protocol", p.Name)
		}
	}
	for _, c := range wire.Codes() {
		if !regexp.MustCompile(fmt.Sprintf("\\b%d\\b[^`]{0,8}`%s`", c, c.Word())).MatchString(text) {
			missing("docs/protocol", c.Word())
		}
	}
	for _, c := range wire.Closes() {
		if !strings.Contains(text, fmt.Sprintf("%d `%s`", c.Code, c.Reason)) {
			missing("docs/protocol", c.Reason)
		}
	}
}

// TestTheTextNamesEveryField checks that the table of all commands in the protocol's pages names every field of each
// request and reply.
func TestTheTextNamesEveryField(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "protocol", "commands.md"))
	noError(t, err)
	rows := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
				if rows[name[1]] == nil {
					rows[name[1]] = cells
				}
			}
		}
	}
	for _, m := range wire.Methods {
		cells := rows[m.Name]
		if cells == nil {
			t.Errorf("%s has no row", m.Name)
			continue
		}
		where := []string{cells[2], cells[3]}
		for i, kind := range []reflect.Type{reflect.TypeOf(m.Request), reflect.TypeOf(m.Reply)} {
			for f := range kind.Fields() {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if !regexp.MustCompile(`\b` + name + `\b`).MatchString(where[i]) {
					t.Errorf("%s: %s is not named in %q", m.Name, name, where[i])
				}
			}
		}
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
