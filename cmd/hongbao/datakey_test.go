package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDataKeyIsMadeOnceAndNeededEverAfter(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "key")
	mustPrint(t, 1, "--new <file> or --encrypt", "datakey")
	made := mustPrint(t, 0, file+" has the new data key", "datakey", "--new", file)
	mustPrint(t, 1, "file exists", "datakey", "--new", file)

	mustPrint(t, 0, "up to date", "migrate", "--data-dir", dir)
	credit := []string{"credit", "--data-dir", dir, "--user", "ann", "--amount", "5", "--key"}
	mustPrint(t, 0, "ann", append(credit, "k1", "--data-key-file", file)...)
	mustPrint(t, 1, filepath.Join(dir, "data.key"), append(credit, "k2")...)
	if text, err := os.ReadFile(file); err != nil || strings.Contains(made, strings.TrimSpace(string(text))) {
		t.Errorf("the command prints the key: %s, %v", made, err)
	}

	next := filepath.Join(t.TempDir(), "key")
	mustPrint(t, 0, "new data key", "datakey", "--new", next)
	mustPrint(t, 1, next, append(credit, "k3", "--data-key-file", next)...)
	both := writeFile(t, string(mustRead(t, next))+string(mustRead(t, file)))
	noError(t, os.Chmod(both, 0o644))
	mustPrint(t, 1, "chmod 600 "+both, "datakey", "--encrypt", "--data-dir", dir, "--data-key-file", both)
	noError(t, os.Chmod(both, 0o600))
	out := mustPrint(t, 0, "the database needs no other key", "datakey", "--encrypt", "--pause", "1ms", "--data-dir", dir, "--data-key-file", both)
	if !strings.Contains(out, ": 1\n") {
		t.Errorf("the seed of ann is not counted:\n%s", out)
	}
	mustPrint(t, 0, "ann", append(credit, "k4", "--data-key-file", next)...)
	mustPrint(t, 0, "", "audit", "--data-dir", dir)
}

func mustRead(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	noError(t, err)
	return text
}
