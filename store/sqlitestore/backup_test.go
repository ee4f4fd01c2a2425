package sqlitestore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"hongbao/chat"
	"hongbao/store/storetest"
)

// TestBackupIsOneSnapshot backs up a database with all kinds of rows while a user writes. Every copy must balance, be private, and hold
// what was written before.
func TestBackupIsOneSnapshot(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	storetest.Live(t, s, s)
	a, err := OpenAuditor(t.Context(), dir)
	noError(t, err)
	t.Cleanup(func() { _ = a.Close() })
	to := t.TempDir()
	if _, _, err := s.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "before"}}, 0); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(to, FileName)
	noError(t, a.Backup(t.Context(), file))
	if _, _, err := s.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "after"}}, 0); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the copy has mode %v, %v, want 0600", info.Mode(), err)
	}
	if err := a.Backup(t.Context(), file); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second backup to the same file: %v, want %v", err, fs.ErrExist)
	}
	if left, _ := filepath.Glob(filepath.Join(to, ".*")); len(left) > 0 {
		t.Errorf("backups leave %v", left)
	}
	if _, err := a.read.ExecContext(t.Context(), `delete from users`); err == nil {
		t.Error("an auditor can write after a backup")
	}

	want, err := a.Audit(t.Context(), nil)
	noError(t, err)
	restored := openStore(t, to)
	got, err := restored.Audit(t.Context(), nil)
	if err != nil || len(got.Differences) > 0 || got.Packets == 0 || got.Funded != want.Funded || len(got.Heads) != len(want.Heads) {
		t.Errorf("the copy has %+v, %v, want %+v", got, err, want)
	}
	for id, want := range map[string]int{"before": 1, "after": 0} {
		var n int
		if err := restored.read.QueryRow(`select count(*) from users where id = ?`, id).Scan(&n); err != nil || n != want {
			t.Errorf("the copy has %d users %q, %v, want %d", n, id, err, want)
		}
	}
}
