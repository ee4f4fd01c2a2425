package sqlitestore

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hongbao/migrations"
	"hongbao/store/storetest"
)

// TestAuditorBesideServer audits while a store is open, and after a change by hand.
func TestAuditorBesideServer(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	storetest.Live(t, s, s)
	a, err := OpenAuditor(t.Context(), dir)
	noError(t, err)
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	got, err := a.Audit(t.Context(), nil)
	if err != nil || len(got.Differences) > 0 || got.Packets == 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := a.read.ExecContext(t.Context(), `delete from users`); err == nil {
		t.Error("an auditor can write")
	}
	chainsUnderTestIn(dir).Exec(t, `update wallets set balance = balance + 1 where user_id = 'u1'`)
	if got, err = a.Audit(t.Context(), nil); err != nil || len(got.Differences) != 2 {
		t.Errorf("after a change: %+v, %v", got.Differences, err)
	}
}

// TestAuditorDoesNotMigrate opens files with an old schema and with none. Both must stay as they are.
func TestAuditorDoesNotMigrate(t *testing.T) {
	dir := t.TempDir()
	u := chainsUnderTestIn(dir)
	for _, statement := range []string{`create table other (a)`, `create table schema_migrations (name text primary key, sum text not null)`} {
		u.Exec(t, statement)
		if _, err := OpenAuditor(t.Context(), dir); !errors.Is(err, migrations.ErrOld) {
			t.Errorf("after %s: %v, want %v", statement, err, migrations.ErrOld)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	noError(t, err)
	defer func() { _ = db.Close() }() // only read
	var tables int
	if err := db.QueryRowContext(t.Context(), `select count(*) from sqlite_master where type = 'table'`).Scan(&tables); err != nil || tables != 2 {
		t.Errorf("%d tables, %v, want 2", tables, err)
	}
	empty := t.TempDir()
	if _, err := OpenAuditor(t.Context(), empty); err == nil {
		t.Error("an audit of no file succeeds")
	}
	if files, err := os.ReadDir(empty); err != nil || len(files) > 0 {
		t.Errorf("the audit made %v, %v", files, err)
	}
}
