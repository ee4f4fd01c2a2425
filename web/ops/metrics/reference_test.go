package metrics

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list of web/docs/metrics.md")

// TestReferencePage compares the list of the reference page with the metrics.
func TestReferencePage(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "metrics.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const head, end = "<!-- go test ./web/ops/metrics -update writes this list -->\n", "<!-- end of the list -->"
	before, rest, found := strings.Cut(string(page), head)
	got, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no list between %q and %q", file, head, end)
	}
	var list strings.Builder
	list.WriteString("\n")
	for _, m := range All() {
		kind := m.Kind
		if len(m.Labels) > 0 {
			kind += " by `" + strings.Join(m.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&list, "- `%s` (%s): %s\n", m.Name, kind, m.Help)
	}
	want := list.String() + "\n"
	switch {
	case got == want:
	case *update:
		if err := os.WriteFile(file, []byte(before+head+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the list of %s differs from the code: run go test ./web/ops/metrics -update", file)
	}
}
