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

// TestCallsByHandExist checks that the SDKs have each command for which no call is generated.
func TestCallsByHandExist(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "page", "static", "sdk", "client.js"))
	if err != nil {
		t.Fatal(err)
	}
	for name, why := range byHandInScript {
		if !strings.Contains(string(script), " "+lowerCamel(name)+"(") {
			t.Errorf("web/page/static/sdk/client.js has no method %s. It is not generated, because %s", lowerCamel(name), why)
		}
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "client", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var client []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		client = append(client, text...)
	}
	for command, name := range byHandInClient {
		if !strings.Contains(string(client), "func (c *Client) "+name+"(ctx ") {
			t.Errorf("package client has no method %s for the command %s, which byHandInClient says is written by hand", name, command)
		}
	}
}
