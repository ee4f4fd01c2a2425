package sqlitestore

import (
	"bytes"
	"database/sql"
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

// TestMigrateMoneyOfTheVersionBefore migrates a database with wallets. They keep their balance and start at version
// 0. The money in circulation is counted by the migration, and again after an older version has made credits.
func TestMigrateMoneyOfTheVersionBefore(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	run := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	first, err := migrations.SQLite.ReadFile("sqlite/0001_init.sql")
	if err != nil {
		t.Fatal(err)
	}
	run(string(first))
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
		if err != nil {
			t.Fatal(err)
		}
		return acc
	}
	circulating := func() (amount int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), `select amount from circulation`).Scan(&amount); err != nil {
			t.Fatal(err)
		}
		return amount
	}
	if acc := account(); acc.Balance != 700 || acc.Version != 0 || circulating() != 700 {
		t.Errorf("after the migration: %+v, %d in circulation", acc, circulating())
	}
	credit("c", 50)
	if err := s.RecountCirculation(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := circulating(); got != 750 {
		t.Errorf("%d in circulation", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	acc, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "d", User: "ann", Amount: -50, Key: "d", Hash: []byte("d"), At: time.Now()})
	if err != nil || acc.Balance != 700 || acc.Version != 1 || account() != acc {
		t.Errorf("after a debit: %+v, %v", acc, err)
	}
	chained, err := s.ChainRows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
	if len(tables(t, openStore(t, dir))) < 5 {
		t.Error("the tables are not there")
	}
}
