package main

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTableFitsTheCode applies each mutant to the text of its file, without running it.
func TestTableFitsTheCode(t *testing.T) {
	root := filepath.Join("..", "..")
	all := table()
	if len(all) < 60 {
		t.Errorf("%d mutants, want at least 60", len(all))
	}
	for i, m := range all {
		text, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil {
			t.Error(err)
			continue
		}
		changed, line, err := m.apply(string(text))
		switch {
		case err != nil:
			t.Error(err)
			continue
		case changed == string(text) || m.harm == "" || slices.Index(all, m) < i:
			t.Errorf("%s:%d: changes nothing, names no harm or occurs twice", m.file, line)
		}
		if strings.HasSuffix(m.file, ".go") {
			if _, err := parser.ParseFile(token.NewFileSet(), m.file, changed, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s:%d: %v", m.file, line, err)
			}
		}
		folders := 0
		for argument := range strings.FieldsSeq(m.tests) {
			if folder, found := strings.CutPrefix(argument, "./"); found {
				folders++
				if files, _ := filepath.Glob(filepath.Join(root, folder, "*_test.go")); len(files) == 0 {
					t.Errorf("%s:%d: no tests in %s", m.file, line, argument)
				}
			}
		}
		if folders == 0 {
			t.Errorf("%s:%d: %q names no package", m.file, line, m.tests)
		}
	}
}

func TestApplyRefusesAnotherText(t *testing.T) {
	m := mutant{file: "a.go", old: "x < y", new: "x <= y"}
	if got, line, err := m.apply("first\nif x < y {"); err != nil || got != "first\nif x <= y {" || line != 2 {
		t.Errorf("%q, %d, %v", got, line, err)
	}
	for _, text := range []string{"", "x < y, x < y"} {
		if _, _, err := m.apply(text); err == nil || !strings.Contains(err.Error(), "out of date") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRunnerTellsKilledFromSurvived tries mutants of a module of its own: one that its test notices, one that it does not, one
// that does not compile, and one whose test fails without it.
func TestRunnerTellsKilledFromSurvived(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module m\n\ngo 1.26\n",
		"a.go":      "package m\n\nfunc sum(a, b int) int { return a + b }\n\nvar unused = 1\n",
		"a_test.go": "package m\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestSum(t *testing.T) {\n\tif sum(1, 2) != 3 || os.Getenv(\"RAPID_NOFAILFILE\") != \"true\" {\n\t\tt.Error(\"wrong\")\n\t}\n}\n\nfunc TestBroken(t *testing.T) { t.Error(\"always\") }\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &runner{root: root, timeout: 60e9, passing: map[string]bool{}}
	for _, c := range []struct {
		m    mutant
		by   string
		fail string
	}{
		{m: mutant{file: "a.go", old: "a + b", new: "a - b", tests: "-run=Sum ."}, by: "TestSum"},
		{m: mutant{file: "a.go", old: "unused = 1", new: "unused = 2", tests: "-run=Sum ."}},
		{m: mutant{file: "a.go", old: "a + b", new: "a + c", tests: "-run=Sum ."}, fail: "does not compile"},
		{m: mutant{file: "a.go", old: "a + b", new: "a - b", tests: "-run=Broken ."}, fail: "fails without a mutant"},
		{m: mutant{file: "a.go", old: "a + b", new: "a - b", tests: "-run=NoSuch ."}, fail: "runs no tests"},
	} {
		v, err := r.try(t.Context(), c.m)
		switch {
		case c.fail != "":
			if err == nil || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%s, %s: %v, want an error that says %q", c.m.new, c.m.tests, err, c.fail)
			}
		case err != nil || v.by != c.by || v.killed() != (c.by != ""):
			t.Errorf("%s: %+v, %v, want by %q", c.m.new, v, err, c.by)
		}
	}
}

func TestTouchedPackages(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("hub/a.go", "package hub")
	write("chat/a.go", "package chat")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write("hub/a_test.go", "package hub")
	write("hub/a.go", "package hub // changed")
	r := &runner{root: root}
	touched, err := r.touched(t.Context(), "HEAD")
	if err != nil || !touched("hub/b.go") || touched("chat/a.go") {
		t.Errorf("error %v; want package hub touched, and chat not", err)
	}
	if _, err := r.touched(t.Context(), "no-such-commit"); err == nil {
		t.Error("a commit that does not exist is accepted")
	}
}
