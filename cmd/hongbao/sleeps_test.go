package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// maySleep are the folders whose tests sleep, and why. make test runs none of the tests that do.
var maySleep = map[string]string{
	"cmd/hongbao/e2e/chaos":  "faults last for some time, and instances get back to rest",
	"cmd/hongbao/e2e/crash":  "clients act for some time while servers fail",
	"cmd/hongbao/e2e/host":   "hosts make traffic for some time",
	"cmd/hongbao/e2e/load":   "crowds come at a rate, and memory settles",
	"cmd/hongbao/e2e/scaled": "outages last for some time",
}

// TestTestsDoNotSleep finds calls of time.Sleep in tests and their helpers. A file that uses testing/synctest may sleep, because there no time
// passes. Any other sleep makes a test slow, or its verdict depend on the machine: wait for what must happen. Where a test must sleep, a comment
// on the line says why: "// sleeps: the lease of a foreign server must end". A linter cannot tell which sleeps are in a bubble.
func TestTestsDoNotSleep(t *testing.T) {
	for name, file := range testFiles(t) {
		if maySleep[path.Dir(name)] != "" || importsPackage(file.syntax, "testing/synctest") {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok || call.Sel.Name != "Sleep" {
				return true
			}
			if of, ok := call.X.(*ast.Ident); !ok || of.Name != "time" {
				return true
			}
			if line := file.set.Position(call.Pos()).Line; !file.reasons[line] {
				t.Errorf("%s:%d: time.Sleep in a test: wait for what must happen, run in a bubble of testing/synctest, or say why on the line: // sleeps: …", name, line)
			}
			return true
		})
	}
}

// testFile is a file of tests or of their helpers.
type testFile struct {
	set     *token.FileSet
	syntax  *ast.File
	reasons map[int]bool // lines with a comment that says why the test sleeps
}

func testFiles(t *testing.T) map[string]testFile {
	t.Helper()
	root := filepath.Join("..", "..")
	files := map[string]testFile{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		slashed := strings.TrimPrefix(filepath.ToSlash(name), "../../")
		helper := strings.HasPrefix(slashed, "store/storetest/") || strings.HasPrefix(slashed, "cmd/hongbao/e2e/")
		if !strings.HasSuffix(slashed, "_test.go") && (!helper || path.Ext(slashed) != ".go") {
			return nil
		}
		f := testFile{set: token.NewFileSet(), reasons: map[int]bool{}}
		if f.syntax, err = parser.ParseFile(f.set, name, nil, parser.ParseComments); err != nil {
			return err
		}
		for _, group := range f.syntax.Comments {
			for _, c := range group.List {
				if reason, found := strings.CutPrefix(c.Text, "// sleeps: "); found && len(reason) > 10 {
					f.reasons[f.set.Position(c.Pos()).Line] = true
				}
			}
		}
		files[slashed] = f
		return nil
	})
	noError(t, err)
	return files
}

func importsPackage(f *ast.File, name string) bool {
	for _, i := range f.Imports {
		if p, _ := strconv.Unquote(i.Path.Value); p == name {
			return true
		}
	}
	return false
}
