package main

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hongbao/web"
)

// guestFolder is a data folder whose servers start and stop one after the other.
type guestFolder struct {
	*testing.T
	dir string
}

// start returns the guests of a server. Variables are settings.
func (f *guestFolder) start(variables ...string) (web.Guests, error) {
	f.Helper()
	c, err := load("serve", []string{"--data-dir", f.dir}, variables)
	if err == nil {
		err = c.checkServe()
	}
	noError(f.T, err)
	return guestsOf(c)
}

func (f *guestFolder) mustStart(variables ...string) web.Guests {
	f.Helper()
	guests, err := f.start(variables...)
	noError(f.T, err)
	return guests
}

// TestGuestKeyIsKept starts two servers in a folder. Both must have the same key, and only the server's user may read its file.
func TestGuestKeyIsKept(t *testing.T) {
	f := &guestFolder{t, t.TempDir()}
	first := f.mustStart()
	if again := f.mustStart(); !bytes.Equal(first.Key, again.Key) || len(first.Key) != guestKeyBytes || again.PreviousKey != nil {
		t.Errorf("the key is %x, and after a restart %x, previous %x; want the same, and none", first.Key, again.Key, again.PreviousKey)
	}
	info, err := os.Stat(filepath.Join(f.dir, guestKeyFile))
	noError(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has the mode %v, want 0600", info.Name(), info.Mode().Perm())
	}
}

// TestGuestKeyIsReplaced renames the file of the key, as the operator's page says. The old key must still be accepted.
func TestGuestKeyIsReplaced(t *testing.T) {
	f := &guestFolder{t, t.TempDir()}
	before := f.mustStart()
	noError(t, os.Rename(filepath.Join(f.dir, guestKeyFile), filepath.Join(f.dir, guestKeyOldFile)))
	after := f.mustStart()
	if bytes.Equal(after.Key, before.Key) || !bytes.Equal(after.PreviousKey, before.Key) {
		t.Errorf("keys %x and %x, want a new one and %x", after.Key, after.PreviousKey, before.Key)
	}
}

func TestGuestKeyOfSettings(t *testing.T) {
	f := &guestFolder{t, t.TempDir()}
	guests := f.mustStart("HONGBAO_GUEST_KEY="+strings.Repeat("0f", guestKeyBytes), "HONGBAO_GUEST_KEY_PREVIOUS="+strings.Repeat("F0", guestKeyBytes))
	if hex.EncodeToString(guests.Key) != strings.Repeat("0f", guestKeyBytes) || hex.EncodeToString(guests.PreviousKey) != strings.Repeat("f0", guestKeyBytes) {
		t.Errorf("keys %x and %x, want those of the settings", guests.Key, guests.PreviousKey)
	}
	if files, _ := filepath.Glob(filepath.Join(f.dir, guestKeyFile+"*")); len(files) != 0 {
		t.Errorf("the folder has %v, want no file of a key", files)
	}
	for _, bad := range []string{"HONGBAO_GUEST_KEY=secret", "HONGBAO_GUEST_KEY=" + strings.Repeat("0f", 31), "HONGBAO_GUEST_KEY=" + strings.Repeat("xx", 32)} {
		if _, err := f.start(bad); err == nil || !strings.Contains(err.Error(), "HONGBAO_GUEST_KEY is not 64 hex digits") || strings.Contains(err.Error(), "0f0f") {
			t.Errorf("%s: %v, want an error that names the setting and not its value", bad, err)
		}
	}
	noError(t, os.WriteFile(filepath.Join(f.dir, guestKeyFile), nil, 0o600))
	if _, err := f.start(); err == nil || !strings.Contains(err.Error(), guestKeyFile) {
		t.Errorf("an empty file of the key: %v, want an error that names it", err)
	}
}
