package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestFilesAreCurrent(t *testing.T) {
	files, err := documents(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("web/spec/%s is not what the generator writes: run go generate ./web/... and commit the result", name)
		}
	}
}
