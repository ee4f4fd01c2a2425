package sqlitestore

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/migrations"
	"hongbao/redpacket"
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
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	noError(t, err)
	if _, err := db.ExecContext(t.Context(), `update schema_migrations set sum = ''`); err != nil { // as if the first start had crashed before
		t.Fatal(err)
	}
	noError(t, db.Close())
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

// TestMigrateMoneyOfTheVersionBefore migrates a database with wallets. They keep their balance and start at version
// 0. The money in circulation is counted by the migration, and again after an older version has made credits.
func TestMigrateMoneyOfTheVersionBefore(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	noError(t, err)
	run := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	run(migrations.SQLite()[0].Text)
	run(`create table schema_migrations (name text primary key) strict; insert into schema_migrations values ('sqlite/0001_init.sql')`)
	credit := func(id string, amount int) { // credits as the previous version of the program does
		t.Helper()
		run(`insert into transfers (id, at, debit, credit, amount, kind, user_id, key, hash)
			values (?, 1, 'outside', 'user:ann', ?, 'credit', 'ann', ?, x'00')`, id, amount, id)
		run(`insert into wallets (user_id, balance) values ('ann', ?) on conflict (user_id) do update set balance = balance + excluded.balance`, amount)
	}
	credit("a", 1000)
	run(`insert into transfers (id, at, debit, credit, amount, kind, user_id, key, hash)
		values ('b', 1, 'user:ann', 'outside', 300, 'debit', 'ann', 'b', x'00')`)
	run(`update wallets set balance = 700`)
	s := openStore(t, dir)
	account := func() redpacket.Account {
		t.Helper()
		acc, err := s.Account(t.Context(), "ann")
		noError(t, err)
		return acc
	}
	circulating := func() (amount int) {
		t.Helper()
		noError(t, db.QueryRowContext(t.Context(), `select amount from circulation`).Scan(&amount))
		return amount
	}
	if acc := account(); acc.Balance != 700 || acc.Version != 0 || circulating() != 700 {
		t.Errorf("after the migration: %+v, %d in circulation", acc, circulating())
	}
	credit("c", 50)
	noError(t, s.RecountCirculation(t.Context()))
	if got := circulating(); got != 750 {
		t.Errorf("%d in circulation", got)
	}
	noError(t, db.Close())
	acc, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "d", User: "ann", Amount: -50, Key: "d", Hash: []byte("d"), At: time.Now()})
	if err != nil || acc.Balance != 700 || acc.Version != 1 || account() != acc {
		t.Errorf("after a debit: %+v, %v", acc, err)
	}
	chained, err := s.ChainRows(t.Context())
	noError(t, err)
	if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 || a.Funded != 700 || chained != 3 {
		t.Errorf("%d rows chained; the books: %+v, %v", chained, a, err)
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
		"older, check":    {`delete from schema_migrations where name like '%sums%'; alter table schema_migrations drop column sum`, migrations.Verify, migrations.ErrOld},
		"older, off":      {`delete from schema_migrations where name like '%sums%'; alter table schema_migrations drop column sum`, migrations.Off, nil},
		"newer, auto":     {`insert into schema_migrations (name) values ('sqlite/9999_later.sql')`, migrations.Auto, migrations.ErrNewer},
		"newer, check":    {`insert into schema_migrations (name) values ('sqlite/9999_later.sql')`, migrations.Verify, migrations.ErrNewer},
		"newer, off":      {`insert into schema_migrations (name) values ('sqlite/9999_later.sql')`, migrations.Off, nil},
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
