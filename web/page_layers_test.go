package web

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hongbao/web/page"
)

// pageEntry is the module that starts the page. Its first comment lists the layers.
const pageEntry = "app/main.js"

var (
	layerLine = regexp.MustCompile(`(?m)^//   (\w+): ([^;\n]+)(?:; imports ([^\n]+))?$`)
	layerRow  = regexp.MustCompile("(?m)^\\| (\\w+) \\| (`[^|\n]+) \\| [^|\n]+ \\| ([^|\n]*)\\|$")
	remark    = regexp.MustCompile(`(?s)/\*.*?\*/|(?m:(?:^|\s)//[^\n]*$)`)
	importing = regexp.MustCompile(`(?m)^(?:import|export)\b[^;'"]*?'(\.[^']+)';|\bimport\('(\.[^']+)'\)`)
)

// pageLayer is a part of the page's modules.
type pageLayer struct {
	name    string
	modules []string // as the entry names them: dom, model/
	imports []string // the names of the other layers whose modules its own may import
}

// has reports whether a module is in the layer. Its path is relative to app/, as in model/news.js and ../sdk/key.js.
func (l pageLayer) has(module string) bool {
	return slices.ContainsFunc(l.modules, func(name string) bool {
		return module == name+".js" || strings.HasSuffix(name, "/") && strings.HasPrefix(module, name)
	})
}

// readLayers returns the layers that a text lists: each match of row has a layer's name, its modules and the layers that it imports.
func readLayers(text string, row *regexp.Regexp) (layers []pageLayer) {
	list := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '`' })
	}
	for _, found := range row.FindAllStringSubmatch(text, -1) {
		layers = append(layers, pageLayer{found[1], list(found[2]), list(found[3])})
	}
	return layers
}

// pageModules returns the text of each module of the page, of the SDK and of vendor/, by its path relative to app/.
func pageModules(t *testing.T) map[string]string {
	t.Helper()
	modules := map[string]string{}
	noError(t, fs.WalkDir(page.Static, "static", func(name string, entry fs.DirEntry, err error) error {
		name, isBelow := strings.CutPrefix(name, "static/")
		isScript := path.Ext(name) == ".js" || path.Ext(name) == ".mjs"
		if err != nil || entry.IsDir() || !isBelow || !isScript || name == "sw.js" { // the service worker imports nothing
			return err
		}
		text, err := fs.ReadFile(page.Static, "static/"+name)
		rest, isOfPage := strings.CutPrefix(name, "app/")
		if !isOfPage {
			rest = "../" + name
		}
		modules[rest] = string(text)
		return err
	}))
	return modules
}

// importsOf returns the modules that a module imports, also those that it imports dynamically.
func importsOf(module, text string) (imported []string) {
	for _, found := range importing.FindAllStringSubmatch(remark.ReplaceAllString(text, ""), -1) {
		imported = append(imported, path.Join(path.Dir(module), found[1]+found[2]))
	}
	return imported
}

// wrongImports returns a line for each import against the layers, and for each circle of modules.
func wrongImports(layers []pageLayer, modules map[string]string) (wrong []string) {
	layerOf := func(module string) *pageLayer {
		at := slices.IndexFunc(layers, func(l pageLayer) bool { return l.has(module) })
		if at < 0 {
			return nil
		}
		return &layers[at]
	}
	imports := map[string][]string{}
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		imports[module] = importsOf(module, modules[module])
		own := layerOf(module)
		if own == nil {
			wrong = append(wrong, module+" is in no layer")
			continue
		}
		for _, imported := range imports[module] {
			other := layerOf(imported)
			if other != nil && other != own && !slices.Contains(own.imports, other.name) {
				wrong = append(wrong, fmt.Sprintf("%s (%s) imports %s (%s)", module, own.name, imported, other.name))
			}
		}
	}
	done := map[string]bool{}
	var way []string
	var follow func(module string)
	follow = func(module string) {
		if at := slices.Index(way, module); at >= 0 {
			wrong = append(wrong, "a circle of imports: "+strings.Join(append(slices.Clone(way[at:]), module), " -> "))
			return
		}
		if done[module] {
			return
		}
		way = append(way, module)
		for _, imported := range imports[module] {
			follow(imported)
		}
		way = way[:len(way)-1]
		done[module] = true
	}
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		follow(module)
	}
	return wrong
}

// TestPageLayers reads the imports of all modules of the page. None may import a layer that its own must not know, and no modules may import each other in
// a circle. The entry lists the layers, and the documents have the same list.
func TestPageLayers(t *testing.T) {
	modules := pageModules(t)
	layers := readLayers(modules["main.js"], layerLine)
	if len(layers) < 5 || len(modules) < 100 {
		t.Fatalf("%s lists the layers %v of %d modules", pageEntry, layers, len(modules))
	}
	for _, line := range wrongImports(layers, modules) {
		t.Error(line)
	}
	page, err := os.ReadFile("docs/page.md")
	noError(t, err)
	if documented := readLayers(string(page), layerRow); fmt.Sprint(documented) != fmt.Sprint(layers) {
		t.Errorf("page.md has the layers\n%v\n%s has\n%v", documented, pageEntry, layers)
	}
}

// TestWrongImportsAreNamed gives the check a page with one of each mistake.
func TestWrongImportsAreNamed(t *testing.T) {
	layers := readLayers("//   model: state, model/\n//   views: views/, title; imports model\n", layerLine)
	got := wrongImports(layers, map[string]string{
		"state.js":      "/* import { x } from './views/a.js'; */\n// import('./views/a.js')\nimport { b } from './model/b.js';\n",
		"model/b.js":    "import {\n  c,\n} from './c.js';\n",
		"model/c.js":    "export const later = () => import('../state.js');\n",
		"views/a.js":    "import { b } from '../model/b.js';\n",
		"model/news.js": "import '../title.js';\n",
		"title.js":      "export { b } from './views/a.js';\n",
		"other.js":      "",
	})
	want := []string{
		"model/news.js (model) imports title.js (views)",
		"other.js is in no layer",
		"a circle of imports: model/b.js -> model/c.js -> state.js -> model/b.js",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
