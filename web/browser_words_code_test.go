package web_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// pageText holds the paths of texts that the page's modules mention.
type pageText struct {
	asked map[string]string // paths in calls of t, as written in the code, and a file that has each
	plain map[string]bool   // all string literals that look like a path
	made  []*regexp.Regexp  // patterns for the paths that template literals can give
}

var (
	comment  = regexp.MustCompile(`(?s)/\*.*?\*/|(?m:(?:^|\s)//[^\n]*$)`)
	place    = regexp.MustCompile(`'([a-zA-Z]+(?:\.\w+)*)'`)
	template = regexp.MustCompile("`([a-zA-Z]+\\.(?:[\\w.]|\\$\\{[^{}]*\\})*)`")
	compared = regexp.MustCompile(`[!=]==\s*'[^']*'|'[^']*'\s*[!=]==`)
	hole     = regexp.MustCompile(`\$\{[^{}]*\}`)
	call     = regexp.MustCompile(`\bt\(`)
)

func pageCode(t *testing.T) pageText {
	t.Helper()
	text := pageText{asked: map[string]string{}, plain: map[string]bool{}}
	files := os.DirFS("page/static/app")
	err := fs.WalkDir(files, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".js") || strings.HasPrefix(path, "words/") {
			return err
		}
		code, err := fs.ReadFile(files, path)
		text.read(path, string(code))
		return err
	})
	if err != nil || len(text.asked) < 50 {
		t.Fatalf("the code names %d places, %v", len(text.asked), err)
	}
	return text
}

func (p *pageText) read(file, code string) {
	code = comment.ReplaceAllString(code, "")
	for _, found := range place.FindAllStringSubmatch(code, -1) {
		p.plain[found[1]] = true
	}
	for _, found := range template.FindAllStringSubmatch(code, -1) {
		p.made = append(p.made, placePattern(found[1]))
	}
	for _, at := range call.FindAllStringIndex(code, -1) {
		argument := compared.ReplaceAllString(firstArgument(code[at[1]:]), "")
		made := template.FindAllStringSubmatch(argument, -1)
		for _, found := range append(made, place.FindAllStringSubmatch(template.ReplaceAllString(argument, ""), -1)...) {
			p.asked[found[1]] = file
		}
	}
}

// says reports whether a path of a text is mentioned anywhere in the code.
func (p *pageText) says(place string) bool {
	if p.plain[place] {
		return true
	}
	for _, pattern := range p.made {
		if pattern.MatchString(place) {
			return true
		}
	}
	return false
}

// placePattern returns a pattern for the paths that a string or template literal can give.
func placePattern(written string) *regexp.Regexp {
	parts := hole.Split(written, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, `[^.]+`) + "$")
}

// firstArgument returns the code of the first argument of a call. code begins after the opening parenthesis.
func firstArgument(code string) string {
	depth := 0
	var quote rune
	for i, r := range code {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '`':
			quote = r
		case strings.ContainsRune("([{", r):
			depth++
		case depth == 0 && (r == ',' || r == ')'):
			return code[:i]
		case strings.ContainsRune(")]}", r):
			depth--
		}
	}
	return code
}
