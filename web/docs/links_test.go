package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the path of the repository's root directory.
var root = filepath.Join("..", "..")

// TestLinksExist checks that each relative link in a Markdown page names an existing file or folder. A fragment must
// name a heading of the linked page.
func TestLinksExist(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)
	elsewhere := regexp.MustCompile(`^[a-z][a-z+.-]*:`)
	for _, page := range files(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(outsideCode(readText(t, page)), -1) {
			target := m[1] + m[2]
			if elsewhere.MatchString(target) {
				continue
			}
			name, fragment, _ := strings.Cut(target, "#")
			file := page
			if name != "" {
				file = filepath.Join(filepath.Dir(page), filepath.FromSlash(name))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which does not exist", page, target)
				continue
			}
			if fragment != "" && !slices.Contains(headings(readText(t, file)), fragment) {
				t.Errorf("%s links to %s, but %s has no such heading", page, target, file)
			}
		}
	}
}

// TestREADMEIsShort limits the length of the README.
func TestREADMEIsShort(t *testing.T) {
	if lines := strings.Count(readText(t, filepath.Join(root, "README.md")), "\n"); lines >= 200 {
		t.Errorf("README.md has %d lines, want under 200: move details to a page of web/docs", lines)
	}
}

// TestEveryPageIsListed checks that the index of web/docs has a link to each page in that folder.
func TestEveryPageIsListed(t *testing.T) {
	index := readText(t, "README.md")
	names, err := filepath.Glob("*.md")
	noError(t, err)
	for _, name := range names {
		if name != "README.md" && !strings.Contains(index, "("+name+")") {
			t.Errorf("web/docs/README.md does not list %s", name)
		}
	}
}

// files returns the repository's files with a suffix, except those in hidden folders and test data.
func files(t *testing.T, suffix string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules", "bench-results"}, d.Name())):
			return filepath.SkipDir
		case strings.HasSuffix(name, suffix):
			names = append(names, name)
		}
		return nil
	})
	noError(t, err)
	if len(names) < 20 {
		t.Fatalf("found only %d files *%s below %s", len(names), suffix, root)
	}
	return names
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	noError(t, err)
	return string(text)
}

// outsideCode returns a text without its fenced code blocks.
func outsideCode(text string) string {
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
}

// headings returns the link fragments of a page's headings.
func headings(text string) (fragments []string) {
	drop := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(outsideCode(text), -1) {
		fragments = append(fragments, strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return fragments
}

// TestPromisesNameRealTests checks that each test named on the pages of promises and of security exists. A name that ends
// in "…" must be the prefix of a test's name.
func TestPromisesNameRealTests(t *testing.T) {
	tests := testNames(t)
	for _, page := range []string{"promises.md", "runbooks.md", "../../SECURITY.md"} {
		for _, m := range regexp.MustCompile("`((?:Test|Fuzz)\\w+)(…?)`").FindAllStringSubmatch(readText(t, page), -1) {
			found := slices.ContainsFunc(tests, func(name string) bool {
				return name == m[1] || m[2] != "" && strings.HasPrefix(name, m[1])
			})
			if !found {
				t.Errorf("%s names %s%s, which is no test: name the test that shows the promise now", page, m[1], m[2])
			}
		}
	}
}

// TestRunbooksAreTried checks that each section of the runbooks names the tests that tried it.
func TestRunbooksAreTried(t *testing.T) {
	sections := strings.Split(readText(t, "runbooks.md"), "\n## ")[1:]
	for _, section := range sections {
		if title, text, _ := strings.Cut(section, "\n"); title != "Next" && !regexp.MustCompile("\\*Tried by\\* `Test").MatchString(text) {
			t.Errorf("runbooks.md: the section %q names no test (*Tried by* `Test…`)", title)
		}
	}
	if len(sections) < 12 {
		t.Errorf("runbooks.md has %d sections, want at least 12", len(sections))
	}
}

// testNames returns the names of all test functions of the repository.
func testNames(t *testing.T) (names []string) {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, file := range files(t, "_test.go") {
		for _, m := range function.FindAllStringSubmatch(readText(t, file), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
