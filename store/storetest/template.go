package storetest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// FileTemplate is a database file that tests copy. A copy of a migrated SQLite file takes less time than its migrations.
type FileTemplate struct {
	name   string
	create func(dir string) error

	once    sync.Once
	content []byte
	err     error
}

// NewFileTemplate returns a template of the file with this name. create makes the file in a folder. The first Copy calls it once.
func NewFileTemplate(name string, create func(dir string) error) *FileTemplate {
	return &FileTemplate{name: name, create: create}
}

// Copy returns a new folder of the test with a copy of the file.
func (f *FileTemplate) Copy(t testing.TB) (dir string) {
	t.Helper()
	f.once.Do(f.make)
	if f.err != nil {
		t.Fatal(f.err)
	}
	dir = t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, f.name), f.content, 0o600))
	return dir
}

func (f *FileTemplate) make() {
	dir, err := os.MkdirTemp("", "hongbao-template-")
	if err != nil {
		f.err = err
		return
	}
	defer os.RemoveAll(dir)
	if f.err = f.create(dir); f.err == nil {
		f.content, f.err = os.ReadFile(filepath.Join(dir, f.name))
	}
}
