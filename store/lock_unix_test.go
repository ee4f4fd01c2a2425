//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"hongbao/store/finding"
)

// TestExamineLeavesNoLock examines a folder of which no server has run: the check must leave no lock file, because it may run as
// another user than the server. A server that starts while its folder is examined must start.
func TestExamineLeavesNoLock(t *testing.T) {
	c := Config{DataDir: t.TempDir()}
	use := func() {
		t.Helper()
		engines, err := Open(t.Context(), c, quiet)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range Examine(t.Context(), c) {
			if found.Part == "data folder" && found.State != finding.Warn {
				t.Errorf("while a server uses the folder: %+v, want a warning", found)
			}
		}
		if err := engines.Close(); err != nil {
			t.Fatal(err)
		}
	}
	use()
	lock := filepath.Join(c.DataDir, "serve.lock")
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if found := Examine(t.Context(), c); finding.Failed(found) {
		t.Errorf("examined: %+v", found)
	}
	if _, err := os.Stat(lock); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file after the check: %v, want none", err)
	}

	file, err := os.Create(lock)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	usual := awaitCheck
	defer func() { awaitCheck = usual }()
	checks := 0
	awaitCheck = func() { checks++; _ = file.Close() }
	use()
	if checks != 1 {
		t.Errorf("the server has waited %d times for the check, want once", checks)
	}
}
