package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPushKeyIsKept reads the key of Web Push again: with another one the subscriptions of all browsers would be dead.
func TestPushKeyIsKept(t *testing.T) {
	c := config{DataDir: t.TempDir(), PushContact: "ops@example.com"}
	first, err := pushKeys(c)
	noError(t, err)
	again, err := pushKeys(c)
	noError(t, err)
	path := filepath.Join(c.DataDir, pushKeyFile)
	info, err := os.Stat(path)
	noError(t, err)
	if first != again || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is %s, and then %s; the file has the mode %v", first.Public, again.Public, info.Mode().Perm())
	}
	c.PushKey = first.Private
	if set, err := pushKeys(c); err != nil || set != first {
		t.Errorf("the key of the setting is %s, %v; want %s", set.Public, err, first.Public)
	}
	c.PushKey = "bad-" + first.Private
	if _, err := pushKeys(c); err == nil || !strings.Contains(err.Error(), "HONGBAO_PUSH_KEY") || strings.Contains(err.Error(), first.Private) {
		t.Errorf("a bad key: %v", err)
	}
	c.PushKey = ""
	noError(t, os.WriteFile(path, nil, 0o600))
	if _, err := pushKeys(c); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("an empty file: %v", err)
	}
}
