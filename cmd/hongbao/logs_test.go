package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogAttributesAreNotDoubled finds calls that log an attribute twice, and those that log the instance, which every line of a server has: some
// programs that read logs refuse such a line.
func TestLogAttributesAreNotDoubled(t *testing.T) {
	logs := map[string]bool{"Debug": true, "Info": true, "Warn": true, "Error": true, "With": true}
	found := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !logs[method.Sel.Name] {
				return true
			}
			keys := call.Args // of With; the others begin with the message
			if method.Sel.Name != "With" && len(keys) > 0 {
				keys = keys[1:]
			}
			seen := map[string]bool{}
			for i := 0; i < len(keys); i += 2 {
				key, ok := keys[i].(*ast.BasicLit)
				if !ok || key.Kind != token.STRING {
					continue
				}
				found++
				if seen[key.Value] || key.Value == `"instance"` && method.Sel.Name != "With" {
					t.Errorf("%s: the attribute %s is logged twice", set.Position(call.Pos()), key.Value)
				}
				seen[key.Value] = true
			}
			return true
		})
		return nil
	})
	if err != nil || found < 100 {
		t.Errorf("%d attributes, %v", found, err)
	}
}
