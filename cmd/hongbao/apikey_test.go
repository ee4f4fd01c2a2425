package main

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hongbao/web/host/hostapi"
	"hongbao/web/host/server"
)

// TestNewAPIKeyFitsItsLine makes keys with and without a keys file. The printed secret must be that of the line.
func TestNewAPIKeyFitsItsLine(t *testing.T) {
	code, out, errs := call(t, "", nil, "apikey", "new", "--name", "shop", "--scopes", "chat,read")
	secret, line := after(out, "key:  "), after(out, "line: ")
	if keys, err := server.ParseKeys([]byte(line)); code != 0 || err != nil || len(keys) != 1 || keys[0].Hash != sha256.Sum256([]byte(secret)) ||
		keys[0].Name != "shop" || !keys[0].May(hostapi.Chat) || keys[0].May(hostapi.Admin) {
		t.Errorf("code %d, %q %q: %+v, %v", code, out, errs, keys, err)
	}
	file := filepath.Join(t.TempDir(), "keys")
	environ := []string{"HONGBAO_API_KEYS_FILE=" + file}
	var printed []string
	for _, name := range []string{"shop", "shop", "books"} {
		code, out, errs := call(t, "", environ, "apikey", "new", "--name", name, "--scopes", "admin")
		if code != 0 || errs != "" || strings.Count(out, "\n") != 1 {
			t.Errorf("code %d, %q %q", code, out, errs)
		}
		printed = append(printed, strings.TrimSpace(out))
	}
	before, err := os.ReadFile(file)
	noError(t, err)
	keys, err := server.ParseKeys(before)
	if err != nil || len(keys) != 3 {
		t.Fatalf("%v, %v", keys, err)
	}
	for i, k := range keys {
		if k.Hash != sha256.Sum256([]byte(printed[i])) {
			t.Errorf("line %d is not that of the printed key", i)
		}
	}
	if code, _, errs := call(t, "", environ, "apikey", "new", "--name", "shop", "--scopes", "admin"); code != 1 || !strings.Contains(errs, "more than 2 keys") {
		t.Errorf("a third key of a name: code %d, %q", code, errs)
	}
	if code, _, errs := call(t, "", environ, "apikey", "new", "--name", "shop", "--scopes", "everything"); code != 1 || !strings.Contains(errs, `scope "everything"`) {
		t.Errorf("an unknown scope: code %d, %q", code, errs)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(before) {
		t.Errorf("the file was changed by a refused key: %v", err)
	}
}

// after returns the rest of the line that begins with the word.
func after(text, word string) string {
	_, rest, _ := strings.Cut(text, word)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}
