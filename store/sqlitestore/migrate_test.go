package sqlitestore

import (
	"bytes"
	"errors"
	"fmt"
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

// tables lists the tables of the database.
func tableNames(t *testing.T, s *Store) []string {
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
	noError(t, err)
	return names
}

func TestMigrateFromEmptyAndAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "on demand")
	first := openStore(t, dir)
	want := tableNames(t, first)
	for _, name := range []string{"entries", "members", "rooms", "schema_migrations", "wallets"} {
		if !slices.Contains(want, name) {
			t.Errorf("no table %s among %v", name, want)
		}
	}
	if _, _, err := first.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "kept"}}, 0); err != nil {
		t.Fatal(err)
	}
	noError(t, first.Close())
	again := openStore(t, dir)
	if got := tableNames(t, again); !slices.Equal(got, want) {
		t.Errorf("the second start has made %v of %v", got, want)
	}
	var users, marks int
	noError(t, again.read.QueryRow(`select (select count(*) from users), (select count(*) from schema_migrations where sum <> '')`).Scan(&users, &marks))
	if want := len(migrations.SQLite()); users != 1 || marks != want {
		t.Errorf("%d users, %d marks of %d migrations", users, marks, want)
	}
}

// TestMigrateByManyAtOnce opens an empty folder six times at once in one process. All must open the same migrated
// database.
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

// migrateDir is an environment variable. If it names a folder, this test program only opens that folder.
// TestMigrateByTwoProcesses starts such copies of the program.
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
	if len(tableNames(t, openStore(t, dir))) < 5 {
		t.Error("the tables are not there")
	}
}

// TestSchemaOfAnotherVersion opens databases whose schema is older, newer or changed. Nothing may be written, and the error must say
// which it is. A mode that does not look must open all of them.
func TestSchemaOfAnotherVersion(t *testing.T) {
	for name, c := range map[string]struct {
		statement string
		mode      migrations.Mode
		want      error
	}{
		"changed, check":  {`delete from schema_migrations`, migrations.Verify, migrations.ErrChanged},
		"changed, off":    {`delete from schema_migrations`, migrations.Off, nil},
		"newer, auto":     {`insert into schema_migrations values ('sqlite/9999_later.sql', '1')`, migrations.Auto, migrations.ErrNewer},
		"newer, check":    {`insert into schema_migrations values ('sqlite/9999_later.sql', '1')`, migrations.Verify, migrations.ErrNewer},
		"newer, off":      {`insert into schema_migrations values ('sqlite/9999_later.sql', '1')`, migrations.Off, nil},
		"changed, auto":   {`update schema_migrations set sum = '00' where name like '%init%'`, migrations.Auto, migrations.ErrChanged},
		"the same, check": {`select 1`, migrations.Verify, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir)
			if _, err := s.write.ExecContext(t.Context(), c.statement); err != nil {
				t.Fatal(err)
			}
			before := schemaState(t, s)
			other, err := OpenWith(t.Context(), dir, c.mode, s.log)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if err == nil {
				err = other.Close()
			}
			if after := schemaState(t, s); after != before || err != nil && c.want == nil {
				t.Errorf("the migrations were %s, and are %s; %v", before, after, err)
			}
		})
	}
}

// schemaState returns the migrations that the database has had, as text.
func schemaState(t *testing.T, s *Store) string {
	t.Helper()
	applied, err := appliedMigrations(reader{ctx: t.Context(), on: s.write})
	noError(t, err)
	return fmt.Sprint(applied)
}
