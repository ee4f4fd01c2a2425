package web

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// Nothing of the protocol is missing from either document, the text, or the golden frames.
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
			missing("PROTOCOL.md", m.Name)
		}
	}
	for _, e := range wire.Endpoints {
		if !strings.Contains(text, "/"+e.Name) {
			missing("PROTOCOL.md", e.Path)
		}
	}
	for _, k := range wire.Kinds {
		frame("push-" + k.Kind)
		if !strings.Contains(text, "`"+k.Kind+"` ") {
			missing("PROTOCOL.md", k.Kind)
		}
	}
	for _, p := range wire.PushNames {
		frame("push-" + p.Name)
		if !strings.Contains(text, "`"+p.Name+" {") && !strings.Contains(text, "`"+p.Name+"` (") {
			missing("PROTOCOL.md", p.Name)
		}
	}
	for _, c := range wire.Codes() {
		if !regexp.MustCompile(fmt.Sprintf("\\b%d\\b[^`]{0,8}`%s`", c, c.Word())).MatchString(text) {
			missing("PROTOCOL.md", c.Word())
		}
	}
	for _, c := range wire.Closes() {
		if !strings.Contains(text, fmt.Sprintf("%d `%s`", c.Code, c.Reason)) {
			missing("PROTOCOL.md", c.Reason)
		}
	}
	for name, s := range specs() {
		for _, what := range s.lacks(name) {
			missing(name, what)
		}
	}
}

// lacks lists what is not in a document.
func (s spec) lacks(name string) (all []string) {
	want := func(what, at string) {
		if s.at(at) == nil {
			all = append(all, what)
		}
	}
	in := func(what string, list []any, key string, value any) {
		if !slices.ContainsFunc(list, func(item any) bool { return reflect.DeepEqual(item.(object)[key], value) }) {
			all = append(all, what)
		}
	}
	for _, m := range wire.Methods {
		if name == "openapi" {
			want(m.Name, "#/paths/~1v1~1commands~1"+m.Name)
		} else {
			want(m.Name, "#/operations/"+m.Name)
		}
	}
	for _, p := range wire.PushNames {
		want(p.Name, "#/components/schemas/Message/properties/"+p.Name)
	}
	kinds := mapped(list(s.at("#/components/schemas/Entry/oneOf")), func(k any) any { return k.(object)["properties"].(object)["kind"] })
	for _, k := range wire.Kinds {
		in(k.Kind, kinds, "const", k.Kind)
	}
	for _, c := range wire.Codes() {
		in(c.Word(), list(s.at("#/components/schemas/Code/oneOf")), "const", float64(c))
	}
	where := "#/channels/socket/x-closes"
	if name == "openapi" {
		where = "#/paths/~1v1~1socket/get/x-closes"
	}
	for _, c := range wire.Closes() {
		in(c.Reason, list(s.at(where)), "code", float64(c.Code))
	}
	return all
}

// The table of section 4 names every field of each request and reply.
func TestTheTextNamesEveryField(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("wire", "PROTOCOL.md"))
	if err != nil {
		t.Fatal(err)
	}
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
		if m.Name == "grab" {
			where[1] = "packet outcome amount rank at balance claimed count" // it has a section of its own
		}
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

// protocolText is the document on one line, for it breaks its lines anywhere.
func protocolText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("wire", "PROTOCOL.md"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}
