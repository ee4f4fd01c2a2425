package main

import (
	"bytes"
	"database/sql"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hongbao/store"
	"hongbao/store/sqlitestore"
	"hongbao/web"
)

// guestFolder is a data folder whose servers start and stop one after the other.
type guestFolder struct {
	*testing.T
	dir string
}

// start starts the engines as a server does, and returns its guests. Variables are settings.
func (f *guestFolder) start(variables ...string) (web.Guests, error) {
	f.Helper()
	c, err := load("serve", []string{"--data-dir", f.dir}, variables)
	if err == nil {
		err = c.checkServe()
	}
	noError(f.T, err)
	engines, err := store.Open(f.Context(), c.engines(), slog.New(slog.DiscardHandler))
	noError(f.T, err)
	defer func() { noError(f.T, engines.Close()) }()
	return guestsOf(f.Context(), c, engines, slog.New(slog.DiscardHandler))
}

func (f *guestFolder) mustStart(variables ...string) web.Guests {
	f.Helper()
	guests, err := f.start(variables...)
	noError(f.T, err)
	return guests
}

// exec changes the database.
func (f *guestFolder) exec(statement string, args ...any) {
	f.Helper()
	db, err := sql.Open("sqlite", filepath.Join(f.dir, sqlitestore.FileName))
	noError(f.T, err)
	_, err = db.Exec(statement, args...)
	noError(f.T, err)
	noError(f.T, db.Close())
}

// mustNotHold fails the test if a file of the database contains the bytes.
func (f *guestFolder) mustNotHold(key []byte) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(f.dir, sqlitestore.FileName+"*"))
	noError(f.T, err)
	for _, name := range files {
		content, err := os.ReadFile(name)
		noError(f.T, err)
		if bytes.Contains(content, key) {
			f.Errorf("%s contains the guests' key", name)
		}
	}
}

// TestGuestKeyIsNotInTheDatabase reads the files of the database as a thief of a backup does: the key that signs guests'
// tokens must not be there. Only the server's user may read the file that has it.
func TestGuestKeyIsNotInTheDatabase(t *testing.T) {
	f := &guestFolder{t, t.TempDir()}
	first := f.mustStart()
	if again := f.mustStart(); !bytes.Equal(first.Key, again.Key) || len(first.Key) != guestKeyBytes || again.PreviousKey != nil {
		t.Errorf("the key is %x, and after a restart %x, previous %x; want the same, and none", first.Key, again.Key, again.PreviousKey)
	}
	f.mustNotHold(first.Key)
	f.mustNotHold([]byte(hex.EncodeToString(first.Key)))
	info, err := os.Stat(filepath.Join(f.dir, guestKeyFile))
	noError(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s has the mode %v, want 0600", info.Name(), info.Mode().Perm())
	}
}

// TestGuestKeyOfAnOlderVersionLeavesTheDatabase starts a server on a database that has the key. Guests must stay signed
// in, but the key, which readers of the database know, must sign no more tokens.
func TestGuestKeyOfAnOlderVersionLeavesTheDatabase(t *testing.T) {
	f := &guestFolder{t, t.TempDir()}
	f.mustStart("HONGBAO_GUESTS=off", "HONGBAO_JWT_SECRET="+strings.Repeat("s", 32))
	old := []byte("a key of an older version, 32 by")
	f.exec(`insert into settings (name, value) values (?, ?)`, guestKeySetting, old)
	for range 2 {
		guests := f.mustStart()
		if !bytes.Equal(guests.PreviousKey, old) || bytes.Equal(guests.Key, old) || len(guests.Key) != guestKeyBytes {
			t.Errorf("keys %x and %x, want a new one, and %x as the previous one", guests.Key, guests.PreviousKey, old)
		}
		f.mustNotHold(old)
	}
	noError(t, os.Remove(filepath.Join(f.dir, guestKeyOldFile)))
	if guests := f.mustStart(); guests.PreviousKey != nil {
		t.Errorf("the previous key is %x after its file was removed, want none", guests.PreviousKey)
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
	stored := bytes.Repeat([]byte{7}, guestKeyBytes)
	f.mustStart("HONGBAO_GUESTS=off", "HONGBAO_JWT_SECRET="+strings.Repeat("s", 32))
	f.exec(`insert into settings (name, value) values (?, ?)`, guestKeySetting, stored)
	guests := f.mustStart("HONGBAO_GUEST_KEY="+strings.Repeat("0f", guestKeyBytes), "HONGBAO_GUEST_KEY_PREVIOUS="+strings.Repeat("F0", guestKeyBytes))
	if hex.EncodeToString(guests.Key) != strings.Repeat("0f", guestKeyBytes) || hex.EncodeToString(guests.PreviousKey) != strings.Repeat("f0", guestKeyBytes) {
		t.Errorf("keys %x and %x, want those of the settings", guests.Key, guests.PreviousKey)
	}
	f.mustNotHold(stored)
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
