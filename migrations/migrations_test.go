package migrations

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// TestEnginesHaveTheSameMigrations checks that both engines have files of the same names, numbered without gaps.
func TestEnginesHaveTheSameMigrations(t *testing.T) {
	sqlite, postgres := fileNames(t, SQLite, "sqlite"), fileNames(t, Postgres, "postgres")
	if !slices.Equal(sqlite, postgres) {
		t.Errorf("sqlite has %v, postgres has %v", sqlite, postgres)
	}
	for i, name := range sqlite {
		number, _, _ := strings.Cut(name, "_")
		if want := fmt.Sprintf("%04d", i+1); number != want {
			t.Errorf("file %s has number %s, want %s", name, number, want)
		}
	}
}

func fileNames(t *testing.T, files fs.FS, dir string) (names []string) {
	t.Helper()
	found, err := fs.ReadDir(files, dir)
	if err != nil || len(found) == 0 {
		t.Fatalf("found %d files in %s, %v", len(found), dir, err)
	}
	for _, f := range found {
		names = append(names, f.Name())
	}
	return names
}
