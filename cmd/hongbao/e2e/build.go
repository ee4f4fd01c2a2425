package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"hongbao/store/storetest"
)

// builds holds the binaries that this test process has built, by name: build tags, a commit, or another word.
var builds struct {
	mu       sync.Mutex
	dir      string
	binaries map[string]string
}

// Main runs the tests of a package, then stops shared engines and removes built binaries. Each package of end-to-end tests
// calls it: func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }.
func Main(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "hongbao-build-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	builds.dir = dir
	code = storetest.Main(m)
	_ = os.RemoveAll(dir)
	return code
}

// Build returns the path of the program, built with the tags and without the race detector, as people run it. It builds once
// for each set of tags.
func Build(t *testing.T, tags string) (binary string) {
	t.Helper()
	return prebuilt(t, "hongbao"+tags, func() string { return build(t, tags, "", "-tags", tags) })
}

// prebuilt returns the path of a program that .ci/test has built into the folder E2E_PROGRAMS, and else what build returns. The file
// becomes an input of the test: go test runs the test again when the program has changed, and else repeats the result from its cache.
// A result that was found with a program of build is never cached, because go test does not know the sources of that program.
func prebuilt(t *testing.T, name string, build func() string) (binary string) {
	t.Helper()
	if folder := os.Getenv("E2E_PROGRAMS"); folder != "" {
		binary = filepath.Join(folder, name)
		_, err := os.Stat(binary)
		NoError(t, err)
		return binary
	}
	fresh := filepath.Join(root(t), ".bin", "fresh") // go test does not cache a test that has read a file of the last two seconds
	NoError(t, os.MkdirAll(filepath.Dir(fresh), 0o755))
	NoError(t, os.WriteFile(fresh, nil, 0o600))
	_, err := os.Stat(fresh)
	NoError(t, err)
	return build()
}

// build builds hongbao from the module of the folder dir, or of this folder if dir is empty. args are more arguments of go build.
// It builds once for each name, and then returns that binary whatever the other arguments are.
func build(t *testing.T, name, dir string, args ...string) (binary string) {
	t.Helper()
	return buildPackage(t, name, dir, "hongbao/cmd/hongbao", args...)
}

// buildPackage is build for another program: of is the path of its package.
func buildPackage(t *testing.T, name, dir, of string, args ...string) (binary string) {
	t.Helper()
	builds.mu.Lock()
	defer builds.mu.Unlock()
	if binary, ok := builds.binaries[name]; ok {
		return binary
	}
	binary = filepath.Join(builds.dir, "hongbao"+name)
	cmd := exec.Command("go", append([]string{"build", "-o", binary}, append(args, of)...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", of, err, out)
	}
	if builds.binaries == nil {
		builds.binaries = map[string]string{}
	}
	builds.binaries[name] = binary
	return binary
}

// BuildNext builds the program as a next version, which has one migration more. postgres and sqlite are the SQL of that migration.
// A test process builds only one next version: later calls return the first one.
func BuildNext(t *testing.T, postgres, sqlite string) (binary string) {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for engine, text := range map[string]string{"postgres": postgres, "sqlite": sqlite} {
		file := filepath.Join(dir, engine+".sql")
		NoError(t, os.WriteFile(file, []byte(text), 0o600))
		replace[filepath.Join(root(t), "migrations", engine, "9999_next.sql")] = file
	}
	overlay := filepath.Join(dir, "overlay.json")
	NoError(t, os.WriteFile(overlay, []byte(JSON(map[string]any{"Replace": replace})), 0o600))
	return build(t, "next", "", "-overlay", overlay)
}

// root returns the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
