package main

import (
	"path/filepath"
	"testing"
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
