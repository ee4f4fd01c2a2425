package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// runner tries mutants, one at a time.
type runner struct {
	root    string // of the repository
	timeout time.Duration
	passing map[string]bool // the tests that are known to pass without a mutant
}

// verdict is the result of trying one mutant.
type verdict struct {
	place string // file and line
	by    string // the test that has killed the mutant, "timeout" or "a crash"; empty: the mutant has survived
	took  time.Duration
}

func (v verdict) killed() bool { return v.by != "" }

func (v verdict) word() string {
	if v.killed() {
		return "killed  "
	}
	return "SURVIVED"
}

func newRunner(ctx context.Context, timeout time.Duration) (*runner, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	return &runner{root: strings.TrimSpace(string(out)), timeout: timeout, passing: map[string]bool{}}, nil
}

// touched returns a function that reports whether the package of a file differs from a commit.
func (r *runner) touched(ctx context.Context, commit string) (func(file string) bool, error) {
	cmd := exec.CommandContext(ctx, "git", "diff", "--name-only", commit, "--") //nolint:gosec // the caller's own commit
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list what differs from %s: %w", commit, err)
	}
	folders := map[string]bool{}
	for name := range strings.FieldsSeq(string(out)) {
		folders[path.Dir(name)] = true
	}
	return func(file string) bool { return folders[path.Dir(file)] }, nil
}

// try runs the tests of one mutant without it, unless they have passed before, and then with it.
func (r *runner) try(ctx context.Context, m mutant) (v verdict, err error) {
	text, err := os.ReadFile(filepath.Join(r.root, m.file))
	if err != nil {
		return verdict{}, err
	}
	changed, line, err := m.apply(string(text))
	if err != nil {
		return verdict{}, err
	}
	v.place = fmt.Sprintf("%s:%d", m.file, line)
	if err := r.wantPassing(ctx, m.tests); err != nil {
		return verdict{}, fmt.Errorf("%s: %w", v.place, err)
	}
	dir, err := os.MkdirTemp("", "hongbao-mutant-")
	if err != nil {
		return verdict{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	overlay, err := writeOverlay(dir, filepath.Join(r.root, m.file), changed)
	if err != nil {
		return verdict{}, err
	}
	began := time.Now()
	output, passed, err := r.test(ctx, m.tests, "-overlay="+overlay)
	v.took = time.Since(began)
	if err == nil && !passed {
		v.by, err = killer(output)
	}
	if err != nil {
		return verdict{}, fmt.Errorf("%s: %w", v.place, err)
	}
	return v, nil
}

// wantPassing returns an error unless the tests pass without a mutant.
func (r *runner) wantPassing(ctx context.Context, tests string) error {
	if r.passing[tests] {
		return nil
	}
	output, passed, err := r.test(ctx, tests)
	switch {
	case err != nil:
		return err
	case !passed:
		return fmt.Errorf("go test %s fails without a mutant:\n%s", tests, output)
	case strings.Contains(output, "[no tests to run]"):
		return fmt.Errorf("go test %s runs no tests: the table of mutants is out of date", tests)
	}
	r.passing[tests] = true
	return nil
}

// writeOverlay writes the changed file and an overlay for go test, in which it takes the place of the original.
func writeOverlay(dir, original, changed string) (overlay string, err error) {
	file := filepath.Join(dir, filepath.Base(original))
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// test runs tests and returns their output.
func (r *runner) test(ctx context.Context, tests string, more ...string) (output string, passed bool, err error) {
	args := append([]string{"test", "-short", "-failfast", "-vet=off", "-timeout=" + r.timeout.String()}, more...)
	cmd := exec.CommandContext(ctx, "go", append(args, strings.Fields(tests)...)...) //nolint:gosec // the table has the arguments
	cmd.Dir = r.root
	// RAPID_NOFAILFILE: property tests would write each failure into the repository. NIGHTLY: the table may name any test.
	cmd.Env = append(os.Environ(), "RAPID_NOFAILFILE=true", "NIGHTLY=all")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var failed *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case err == nil:
		return out.String(), true, nil
	case errors.As(err, &failed):
		return out.String(), false, nil
	}
	return "", false, err
}

var failedTest = regexp.MustCompile(`--- FAIL: (\S+)`)

// killer returns what has made the tests fail. It returns an error if they were not run.
func killer(output string) (string, error) {
	if strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]") {
		return "", fmt.Errorf("the mutant does not compile:\n%s", output)
	}
	if strings.Contains(output, "panic: test timed out") {
		return "timeout", nil
	}
	all := failedTest.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return "a crash", nil
	}
	return all[0][1], nil
}
