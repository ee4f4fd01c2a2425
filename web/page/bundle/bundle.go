package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Options says what is joined.
type Options struct {
	Files map[string][]byte // all files by path
	Entry string            // the path of the module that starts the page
	// Apart are the folders of modules that stay files of their own, such as vendored ones.
	Apart []string
	First string // the path of the file with the entry and the modules that it imports, directly or indirectly; in the root folder
	Later string // the path of the file with the modules that are imported dynamically, and their imports; in the root folder
}

// Bundle is the result.
type Bundle struct {
	First, Later []byte
	Apart        []string // modules that First imports and that stay files of their own
	Joined       []string // names of the modules in First and Later
}

var (
	comment  = regexp.MustCompile(`(?m)^[ \t]*(?://[^\n]*|/\*(?:[^*]|\*+[^*/])*\*+/[ \t]*)\n`)
	inline   = regexp.MustCompile(`/\*\*(?:[^*]|\*+[^*/])*\*+/ ?`)
	imports  = regexp.MustCompile(`(?m)^import \{([^}]*)\} from '(\.[^']+)';\n`)
	passedOn = regexp.MustCompile(`(?m)^export \{([^}]*)\} from '(\.[^']+)';\n`)
	exported = regexp.MustCompile(`(?m)^export (?:((?:async )?function\*?|class) (\w+)|(?:const|let) (\w+))`)
	deferred = regexp.MustCompile(`\bimport\('(\.[^']+)'\)`)
	unclear  = regexp.MustCompile("(?m)^(?:(?:import|export)\\b[^\n]*|[\\[(`'\"][^\n]*)")
)

// module is one module of the page.
type module struct {
	name    string
	head    string // imports of modules that stay apart
	body    string
	exports []string // names that it declares
	passed  []string // names that it exports from modules that stay apart
	uses    []string // modules that it imports
	later   []string // modules that it imports dynamically
	apart   []string // the modules of the names in passed
}

// Join joins the entry and all modules that it imports, directly, indirectly or dynamically. Modules in the folders of
// Options.Apart are not joined.
func Join(o Options) (Bundle, error) {
	j := joiner{o: o, modules: map[string]*module{}, owners: map[string]string{}}
	first, err := j.inOrder([]string{o.Entry})
	if err != nil {
		return Bundle{}, err
	}
	var later []*module
	for names := deferredBy(first); len(names) > 0; {
		more, err := j.inOrder(names)
		if err != nil {
			return Bundle{}, err
		}
		later = append(later, more...)
		names = deferredBy(more)
	}
	var b Bundle
	for _, m := range slices.Concat(first, later) {
		b.Joined = append(b.Joined, m.name)
	}
	for _, m := range first {
		b.Apart = append(b.Apart, m.apart...)
	}
	b.First = write("", first)
	if len(later) > 0 {
		b.Later = write(fmt.Sprintf("import { %s } from './%s';\n", strings.Join(namesOf(first), ", "), o.First), later)
	}
	return b, nil
}

type joiner struct {
	// static
	o Options

	modules map[string]*module
	owners  map[string]string // the module of each exported name
}

// inOrder returns the named modules and all modules that they import, directly or indirectly. Each module follows the modules that
// it imports, unless these import it, too. Modules that an earlier call has returned are left out.
func (j *joiner) inOrder(names []string) (list []*module, err error) {
	for _, name := range names {
		if j.modules[name] != nil {
			continue
		}
		m, err := j.read(name)
		if err != nil {
			return nil, err
		}
		j.modules[name] = m // before the modules that it imports: they may import it, too
		used, err := j.inOrder(m.uses)
		if err != nil {
			return nil, fmt.Errorf("%w; needed by %s", err, name)
		}
		list = append(append(list, used...), m)
	}
	return list, nil
}

// deferredBy returns the modules that the given ones import dynamically and that are joined.
func deferredBy(list []*module) (names []string) {
	for _, m := range list {
		names = append(names, m.later...)
	}
	return names
}

func (j *joiner) isApart(name string) bool {
	return slices.ContainsFunc(j.o.Apart, func(folder string) bool { return strings.HasPrefix(name, folder) })
}

func (j *joiner) read(name string) (*module, error) {
	data, ok := j.o.Files[name]
	if !ok {
		return nil, fmt.Errorf("join the page: there is no module %s", name)
	}
	m := &module{name: name}
	at := func(relative string) string { return path.Join(path.Dir(name), relative) }
	text := inline.ReplaceAllString(comment.ReplaceAllString(string(data), ""), "")
	var problems []error
	text = imports.ReplaceAllStringFunc(text, func(statement string) string {
		found := imports.FindStringSubmatch(statement)
		if target := at(found[2]); j.isApart(target) || strings.Contains(found[1], " as ") {
			problems = append(problems, fmt.Errorf("join the page: %s: %q: import a vendored module in one place, and nothing under another name", name, statement))
		} else {
			m.uses = append(m.uses, target)
		}
		return ""
	})
	text = passedOn.ReplaceAllStringFunc(text, func(statement string) string {
		found := passedOn.FindStringSubmatch(statement)
		m.apart = append(m.apart, at(found[2]))
		m.head += fmt.Sprintf("import {%s} from './%s';\n", found[1], at(found[2]))
		for name := range strings.SplitSeq(found[1], ",") {
			m.passed = append(m.passed, strings.TrimSpace(name))
		}
		return ""
	})
	text = exported.ReplaceAllStringFunc(text, func(statement string) string {
		found := exported.FindStringSubmatch(statement)
		declared := found[2] + found[3]
		m.exports = append(m.exports, declared)
		if found[1] == "" {
			return declared
		}
		return fmt.Sprintf("%s = %s %s", declared, found[1], declared)
	})
	text = deferred.ReplaceAllStringFunc(text, func(call string) string {
		target := at(deferred.FindStringSubmatch(call)[1])
		if j.isApart(target) {
			return fmt.Sprintf("import('./%s')", target)
		}
		m.later = append(m.later, target)
		return fmt.Sprintf("import('./%s')", j.o.Later)
	})
	text = strings.ReplaceAll(text, "import.meta.url", fmt.Sprintf("new URL('%s', import.meta.url)", name))
	if line := unclear.FindString(text); line != "" {
		problems = append(problems, fmt.Errorf("join the page: %s: a line begins with %q, which cannot be joined", name, line))
	}
	for _, name := range m.names() {
		if other, ok := j.owners[name]; ok {
			problems = append(problems, fmt.Errorf("join the page: both %s and %s export %s: choose another name", other, m.name, name))
		}
		j.owners[name] = m.name
	}
	m.body = strings.TrimSpace(text)
	return m, errors.Join(problems...)
}

// names returns all names that other modules may import.
func (m *module) names() []string { return slices.Concat(m.exports, m.passed) }

func namesOf(list []*module) (names []string) {
	for _, m := range list {
		names = append(names, m.names()...)
	}
	slices.Sort(names)
	return names
}

// write returns a file with the modules, one block each.
func write(head string, list []*module) []byte {
	b := bytes.NewBufferString(head)
	var variables []string
	for _, m := range list {
		b.WriteString(m.head)
		variables = append(variables, m.exports...)
	}
	slices.Sort(variables)
	fmt.Fprintf(b, "let %s;\n", strings.Join(variables, ", "))
	for _, m := range list {
		if m.body != "" {
			fmt.Fprintf(b, "{ // %s\n%s\n}\n", m.name, m.body)
		}
	}
	fmt.Fprintf(b, "export { %s };\n", strings.Join(namesOf(list), ", "))
	return b.Bytes()
}
