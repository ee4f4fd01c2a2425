package store

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/migrations"
	"hongbao/store/secret"
	"hongbao/store/storetest"
)

// open opens the books with the data key, and closes them again.
func open(t *testing.T, c Config, log *slog.Logger) error {
	t.Helper()
	books, err := makeKeyedBooks(t.Context(), c, log)
	if err != nil {
		return err
	}
	return errors.Join(books.Ready(t.Context()), books.Close())
}

func newKey(t *testing.T) (file, id string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "key")
	noError(t, secret.Create(file))
	keys, err := secret.Read(file)
	noError(t, err)
	return file, keys.First().String()
}

// join writes a key file with the keys of several files.
func join(t *testing.T, files ...string) (file string) {
	t.Helper()
	var all []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		noError(t, err)
		all = append(all, text...)
	}
	file = filepath.Join(t.TempDir(), "key")
	noError(t, os.WriteFile(file, all, 0o600))
	return file
}

// refused fails the test unless the error says that a key is missing, and has all words.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, secret.ErrNoKey) {
		t.Errorf("%v, want a missing key", err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%v, want %q in it", err, word)
		}
	}
}

var quiet = slog.New(slog.DiscardHandler)

func TestEmbeddedMakesItsKeyOnce(t *testing.T) {
	c := Config{DataDir: t.TempDir()}
	file := filepath.Join(c.DataDir, DataKeyName)
	noError(t, open(t, c, quiet))
	made, err := os.ReadFile(file)
	noError(t, err)
	noError(t, open(t, c, quiet))
	if again, err := os.ReadFile(file); err != nil || string(again) != string(made) {
		t.Errorf("the second start has changed the key file: %v", err)
	}
	noError(t, os.Remove(file))
	if err := open(t, c, quiet); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), file) {
		t.Errorf("without the key file: %v", err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a lost key was replaced by a new one")
	}
	other, _ := newKey(t)
	c.DataKeyFile = other
	refused(t, open(t, c, quiet), other, "restore the file")
}

func TestScaledNeedsTheKeyOnceItHasOne(t *testing.T) {
	url, err := storetest.SharedPostgres(t).NewDatabase(t.Context())
	noError(t, err)
	testKeys(t, Config{DatabaseURL: url})
}

func TestKeysRotate(t *testing.T) {
	testKeys(t, Config{DataDir: t.TempDir()})
}

// testKeys opens a new database with one key after the other.
func testKeys(t *testing.T, c Config) {
	t.Helper()
	var logged strings.Builder
	with := func(file string) Config {
		c := c
		c.DataKeyFile = file
		return c
	}
	if c.Scaled() {
		if err := open(t, c, slog.New(slog.NewTextHandler(&logged, nil))); err != nil || !strings.Contains(logged.String(), "HONGBAO_DATA_KEY_FILE") {
			t.Errorf("without a key: %v, logged %s", err, &logged)
		}
	}
	one, id1 := newKey(t)
	two, id2 := newKey(t)
	noError(t, open(t, with(one), quiet))
	if c.Scaled() {
		refused(t, open(t, c, quiet), id1, "HONGBAO_DATA_KEY_FILE")
	}
	refused(t, open(t, with(two), quiet), id1, id2, two)

	both, err := makeKeyedBooks(t.Context(), with(join(t, two, one)), quiet)
	noError(t, err)
	defer func() { _ = both.Close() }()
	if _, err := both.Ledger.Account(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	refused(t, open(t, with(two), quiet), id1)
	refused(t, open(t, with(one), quiet), id2)
	old, err := makeKeyedBooks(t.Context(), with(join(t, one, two)), quiet)
	noError(t, err)
	if _, err := old.Ledger.Account(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	done, err := both.EncryptSeeds(t.Context(), time.Millisecond)
	if err != nil || done.Key != id2 || done.Seeds.Changed != 1 || !done.OnlyKey {
		t.Errorf("encrypted %+v, %v, want the seed of bob with %s", done, err, id2)
	}
	if err := old.Ready(t.Context()); err != nil { // its first key is the one that the database is said not to need
		t.Errorf("the instance of the old key: %v", err)
	}
	refused(t, open(t, with(two), quiet), id1)
	ended, paused := make(chan struct{}), make(chan time.Time)
	both.after = func(time.Duration) <-chan time.Time { return paused }
	go func() {
		defer close(ended)
		done, err = both.EncryptSeeds(t.Context(), time.Second)
	}()
	for again := false; !again; { // until EncryptSeeds has stored that only the new key is needed
		select {
		case <-ended:
			t.Fatalf("it ended before: %+v, %v", done, err)
		default:
		}
		needed, err := old.sql.Setting(t.Context(), settingDataKeys)
		noError(t, err)
		again = len(needed) == len(secret.ID{})
	}
	if err := old.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	close(paused)
	if <-ended; err != nil || !done.InUse || done.OnlyKey {
		t.Errorf("beside an instance of the old key: %+v, %v, want it in use", done, err)
	}
	refused(t, open(t, with(two), quiet), id1)
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	if done, err = both.EncryptSeeds(t.Context(), time.Millisecond); err != nil || !done.OnlyKey {
		t.Errorf("without the instance of the old key: %+v, %v", done, err)
	}
	if err := open(t, with(two), quiet); err != nil {
		t.Errorf("with the new key alone: %v", err)
	}
	refused(t, open(t, with(one), quiet), id2)

	keyless, err := MakeBooks(t.Context(), c, migrations.Auto, quiet) // as an instance that was started before there was a key
	noError(t, err)
	defer func() { _ = keyless.Close() }()
	refused(t, keyless.Ready(t.Context()), id2)
	if _, err := keyless.Ledger.Account(t.Context(), "ann"); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("without the key the account is answered with %v", err)
	}
}
