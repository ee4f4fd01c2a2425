package sqlitestore

import (
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"hongbao/chat"
	"hongbao/migrations"
)

// tables lists what the database has.
func tables(t *testing.T, s *Store) []string {
	t.Helper()
	var names []string
	err := s.do(t.Context(), func(w *writer) (err error) {
		rs, err := w.query(`select name from sqlite_schema where type = 'table' order by name`)
		if err != nil {
			return err
		}
		defer func() { _ = rs.Close() }()
		for rs.Next() {
			var name string
			if err := rs.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rs.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMigrateFromEmptyAndAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on demand")
	first := openStore(t, dir)
	want := tables(t, first)
	for _, name := range []string{"entries", "members", "rooms", "schema_migrations", "wallets"} {
		if !slices.Contains(want, name) {
			t.Errorf("no table %s among %v", name, want)
		}
	}
	if _, err := first.PutUser(t.Context(), chat.User{ID: "kept"}, 0); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := openStore(t, dir)
	if got := tables(t, again); !slices.Equal(got, want) {
		t.Errorf("the second start has made %v of %v", got, want)
	}
	var users, marks int
	if err := again.read.QueryRow(`select (select count(*) from users), (select count(*) from schema_migrations)`).Scan(&users, &marks); err != nil {
		t.Fatal(err)
	}
	files, err := migrations.SQLite.ReadDir("sqlite")
	if err != nil || users != 1 || marks != len(files) {
		t.Errorf("%d users, %d marks of %d migrations, %v", users, marks, len(files), err)
	}
}

// TestMigrateByManyAtOnce: handles of one process that all find the folder empty.
func TestMigrateByManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	epochs := make([]string, 6)
	var wg sync.WaitGroup
	for i := range epochs {
		wg.Go(func() {
			s, err := Open(t.Context(), dir, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Error(err)
				return
			}
			if epochs[i], err = s.Epoch(t.Context()); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if epochs[0] == "" || len(slices.Compact(epochs)) != 1 {
		t.Errorf("they do not agree on the epoch: %q", epochs)
	}
}

// migrateDir tells a copy of this test program, started by TestMigrateByTwoProcesses, which folder to open.
const migrateDir = "HONGBAO_TEST_MIGRATE_DIR"

func TestMigrateByTwoProcesses(t *testing.T) {
	if dir := os.Getenv(migrateDir); dir != "" {
		openStore(t, dir)
		return
	}
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMigrateByTwoProcesses$")
			cmd.Env = append(os.Environ(), migrateDir+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	if len(tables(t, openStore(t, dir))) < 5 {
		t.Error("the tables are not there")
	}
}
