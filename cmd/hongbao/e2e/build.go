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

// builds holds the binaries that this test process has built, by build tags.
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
	builds.mu.Lock()
	defer builds.mu.Unlock()
	if binary, ok := builds.binaries[tags]; ok {
		return binary
	}
	binary = filepath.Join(builds.dir, "hongbao"+tags)
	if out, err := exec.Command("go", "build", "-tags", tags, "-o", binary, "hongbao/cmd/hongbao").CombinedOutput(); err != nil {
		t.Fatalf("go build hongbao/cmd/hongbao: %v\n%s", err, out)
	}
	if builds.binaries == nil {
		builds.binaries = map[string]string{}
	}
	builds.binaries[tags] = binary
	return binary
}
