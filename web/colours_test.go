package web

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestColoursOfOlderBrowsers reads the style sheets. None may use light-dark(), which makes each colour that uses it invalid before Safari 17.5
// and Chrome 123. So the dark colours are written twice, for the system's setting and for the user's choice, and must be the same.
func TestColoursOfOlderBrowsers(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(os.DirFS("page/static"), "style", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".css") {
			return err
		}
		if text := withoutComments(t, "page/static/"+path); strings.Contains(text, "light-dark(") {
			t.Errorf("%s uses light-dark()", path)
		}
		return nil
	})
	noError(t, err)
	text := withoutComments(t, "page/static/style/tokens.css")
	light, system, chosen := colours(t, text, `:root, .opening-card {`), colours(t, text, `:root:not([data-theme="light"]) {`), colours(t, text, `:root[data-theme="dark"] {`)
	if !maps.Equal(system, chosen) {
		t.Errorf("dark by the system is %v, by choice %v", system, chosen)
	}
	names := func(of map[string]string) []string { return slices.Sorted(maps.Keys(of)) }
	if !slices.Equal(names(light), names(chosen)) || len(light) != 19 { // all of them: a rule that is read in part would pass
		t.Errorf("light has %q, dark %q", names(light), names(chosen))
	}
}

func withoutComments(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	noError(t, err)
	return regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
}

// colours returns the custom properties of the first rule that begins like this.
func colours(t *testing.T, css, begin string) map[string]string {
	t.Helper()
	_, rest, ok := strings.Cut(css, begin)
	if !ok {
		t.Fatalf("there is no rule %s", begin)
	}
	rule, _, _ := strings.Cut(rest, "}")
	all := map[string]string{}
	for _, found := range regexp.MustCompile(`(--[\w-]+): (#\w+);`).FindAllStringSubmatch(rule, -1) {
		all[found[1]] = found[2]
	}
	return all
}
