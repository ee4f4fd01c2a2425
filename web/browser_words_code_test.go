package web_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// pageText is what the modules of the page name.
type pageText struct {
	asked map[string]string // the places that t is called with, as they are written, and a file of each
	plain map[string]bool   // all strings
	made  []*regexp.Regexp  // the places that templates may make
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
	files := os.DirFS("static/app")
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

// says tells whether a word is named somewhere.
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

// placePattern matches the places that a string or template may stand for.
func placePattern(written string) *regexp.Regexp {
	parts := hole.Split(written, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, `[^.]+`) + "$")
}

// firstArgument is the code up to the comma or the parenthesis that ends it.
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
