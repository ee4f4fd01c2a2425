package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// partedFiles are the files that are written by hand but for some generated parts. A part stands between two lines:
//
//	<!-- generated: name -->
//	<!-- end -->
//
// A JavaScript file has "// generated: name" and "// end" instead.
var partedFiles = []string{"docs/protocol/*.md", "docs/server-api.md", "page/static/sdk/*.js"}

// partLines matches a part: group 1 is its first line, group 3 its name, group 4 its last line.
var partLines = regexp.MustCompile(`(?ms)^((<!--|//) generated: ([^\n]*?)(?: -->)?\n)(?:.*?\n)??((?:<!--|//) end(?: -->)?)$`)

// part is what a file should have between the lines of a part. where says in which file a person must put the lines; "": in none.
type part struct{ text, where string }

// fillParts returns the files that have generated parts, with the parts filled.
func fillParts(web string, parts map[string]part) (map[string][]byte, error) {
	files, filled, used := os.DirFS(web), map[string][]byte{}, map[string]bool{}
	for _, pattern := range partedFiles {
		names, err := fs.Glob(files, pattern)
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("found %d files %s/%s, %w: go generate ./web/... runs this command in web/spec", len(names), web, pattern, cmp.Or(err, fs.ErrNotExist))
		}
		for _, file := range names {
			text, err := fs.ReadFile(files, file)
			if err != nil {
				return nil, err
			}
			if !partLines.Match(text) {
				continue
			}
			if filled[file], err = fill(text, parts, used); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		switch p := parts[name]; {
		case p.where == "":
		case p.text == "":
			return nil, fmt.Errorf("there is no golden frame %s: add it to web/wire/golden_test.go, and run go test ./web/wire -update", name)
		case !used[name]:
			return nil, fmt.Errorf("add the lines <!-- generated: %s --> and <!-- end --> to %s", name, p.where)
		}
	}
	return filled, nil
}

// fill returns the text of a file with its parts filled. It notes them as used.
func fill(text []byte, parts map[string]part, used map[string]bool) ([]byte, error) {
	var unknown []string
	out := partLines.ReplaceAllFunc(text, func(found []byte) []byte {
		m := partLines.FindSubmatch(found)
		name := string(m[3])
		if _, ok := parts[name]; !ok {
			unknown = append(unknown, name)
		}
		used[name] = true
		return slices.Concat(m[1], []byte(parts[name].text), m[4])
	})
	if len(unknown) > 0 {
		return nil, fmt.Errorf("there are no generated parts %q", unknown)
	}
	return out, nil
}

// table returns a Markdown table with these cells of its head.
func table(head string, rows ...[]string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "| %s |\n|%s\n", head, strings.Repeat("---|", strings.Count(head, "|")+1))
	for _, cells := range rows {
		out.WriteString("|")
		for _, cell := range cells {
			if cell != "" {
				cell = " " + cell
			}
			out.WriteString(cell + " |")
		}
		out.WriteString("\n")
	}
	return out.String()
}
