package sqlitestore

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestOnlyTheOwnerReadsTheFiles creates a database, and opens one whose files others may read. In both cases, only the
// owner may read the files afterwards.
func TestOnlyTheOwnerReadsTheFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	for name, before := range map[string]fs.FileMode{"new": 0, "restored": 0o644} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, FileName)
			if before != 0 {
				createFile(t, dir)
				noError(t, os.Chmod(path, before))
			}
			s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
			noError(t, err)
			defer func() { _ = s.Close() }()
			files, err := filepath.Glob(path + "*")
			if err != nil || len(files) < 2 {
				t.Fatalf("the database has the files %v, %v; want a write-ahead log, too", files, err)
			}
			for _, file := range files {
				info, err := os.Stat(file)
				if err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: %v, %v; want the mode 0600", file, info.Mode(), err)
				}
			}
		})
	}
}

func createFile(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	noError(t, err)
	noError(t, s.Close())
}

func TestFolderThatAllMayWriteIsRefused(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.Chmod(dir, 0o777))
	if _, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open: %v, want an error that names the folder", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("Open has created %v", files)
	}
}
