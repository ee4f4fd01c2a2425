package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/store/objects"
)

// TestBackupAndCopyExplainTheirUse runs both commands with missing and wrong settings, and a backup that succeeds.
func TestBackupAndCopyExplainTheirUse(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "data"), t.TempDir()
	mustPrint(t, 1, "--to <new file or folder>", "backup", "--data-dir", dir)
	mustPrint(t, 1, "HONGBAO_DATA_DIR", "backup", "--data-dir", dir, "--to", to)
	mustPrint(t, 1, "Set HONGBAO_DATABASE_URL", "copy", "--data-dir", dir)
	mustPrint(t, 1, "HONGBAO_DATA_DIR", "copy", "--data-dir", dir, "--database-url", "postgres://127.0.0.1:1/none")
	mustPrint(t, 1, "its own tools", "backup", "--data-dir", dir, "--to", to, "--database-url", "postgres://127.0.0.1:1/none")

	mustPrint(t, 0, "up to date", "migrate", "--data-dir", dir)
	file := filepath.Join(to, "copy.db")
	mustPrint(t, 0, "hongbao restored", "backup", "--data-dir", dir, "--to", file)
	mustPrint(t, 1, "is not replaced", "backup", "--data-dir", dir, "--to", file)
}

// TestFilesOfTheCommands puts an object into the data folder. A backup must take it along, a second one must go on beside the first, and an audit must
// name it, because no file needs it.
func TestFilesOfTheCommands(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "data"), t.TempDir()
	mustPrint(t, 0, "up to date", "migrate", "--data-dir", dir)
	folder, err := objects.OpenFolder(filepath.Join(dir, "files"))
	noError(t, err)
	for _, name := range []string{"one/a", "two/b"} {
		noError(t, folder.Put(t.Context(), name, strings.NewReader(name), int64(len(name))))
		mustPrint(t, 0, "has its files", "backup", "--data-dir", dir, "--to", filepath.Join(to, name[:3]+".db"))
	}
	copied, err := objects.OpenFolder(filepath.Join(to, "hongbao-files"))
	noError(t, err)
	if list, err := copied.List(t.Context(), "", "", 10); err != nil || len(list) != 2 {
		t.Errorf("the backup has %v, err %v", list, err)
	}
	mustPrint(t, 0, "0 bytes count to HONGBAO_FILES_BYTES", "audit", "--data-dir", dir, "--with-files", "names")
	old := time.Now().Add(-2 * time.Hour)
	found, err := filepath.Glob(filepath.Join(dir, "files", "*", "one", "a"))
	noError(t, err)
	noError(t, os.Chtimes(found[0], old, old))
	mustPrint(t, 1, "DIFFERENCE file one/a: no file needs it", "audit", "--data-dir", dir, "--with-files", "content")
	mustPrint(t, 1, "want names or content", "audit", "--data-dir", dir, "--with-files", "all")
	mustPrint(t, 1, "HONGBAO_FILES names no object store", "audit", "--data-dir", dir, "--with-files", "names", "--files", "off")
}
