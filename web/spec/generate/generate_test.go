package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesAreCurrent compares each generated file, and each file with generated parts, with what the generator writes.
func TestFilesAreCurrent(t *testing.T) {
	web := filepath.Join("..", "..")
	files, err := generated(web)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(web, name))
		if err != nil {
			t.Error(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("web/%s is not what the generator writes: run go generate ./web/... and commit the result", name)
		}
	}
}

// TestCallsByHandExist checks that client.js has each command for which methods.js has no method.
func TestCallsByHandExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "static", "sdk", "client.js"))
	if err != nil {
		t.Fatal(err)
	}
	for name, why := range byHandInScript {
		if !strings.Contains(string(text), " "+lowerCamel(name)+"(") {
			t.Errorf("web/static/sdk/client.js has no method %s. It is not generated, because %s", lowerCamel(name), why)
		}
	}
}
