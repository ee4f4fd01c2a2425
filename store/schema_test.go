package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/store/storetest"
)

// TestOpenBooksNeverMigrates opens a database of a newer version, as the commands do that are no servers. It must be refused and stay as it
// is. Books that are open meanwhile must be ready, and know that their schema has another version.
func TestOpenBooksNeverMigrates(t *testing.T) {
	config := Config{DataDir: t.TempDir()}
	books, err := MakeBooks(t.Context(), config, migrations.Auto, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = books.Close() })
	db := execute(t, config, `insert into schema_migrations values ('sqlite/9999_later.sql', '1')`)
	before := marks(t, db)
	if _, err := OpenBooks(t.Context(), config, quiet); !errors.Is(err, migrations.ErrNewer) {
		t.Errorf("%v, want %v", err, migrations.ErrNewer)
	}
	if after := marks(t, db); after != before {
		t.Errorf("the database had %d migrations, and has %d", before, after)
	}
	if err := books.CheckSchema(t.Context()); !errors.Is(err, migrations.ErrNewer) {
		t.Errorf("open books: %v, want %v", err, migrations.ErrNewer)
	}
	if err := books.Ready(t.Context()); err != nil {
		t.Errorf("open books are not ready: %v", err)
	}
}

// TestReadersMakeNoTables opens empty databases as the commands do that are no servers. They must refuse, and leave no table and no
// file behind.
func TestReadersMakeNoTables(t *testing.T) {
	scaled, embedded := Config{DatabaseURL: storetest.Database(t)}, Config{DataDir: t.TempDir()}
	for name, c := range map[string]struct {
		config Config
		want   error
	}{"Postgres": {scaled, migrations.ErrOld}, "SQLite": {embedded, ErrNoBooks}} {
		if books, err := OpenBooks(t.Context(), c.config, quiet); !errors.Is(err, c.want) {
			t.Errorf("%s: OpenBooks returns %v, %v; want %v", name, books, err, c.want)
		}
		if auditor, err := OpenAuditor(t.Context(), c.config, quiet); !errors.Is(err, c.want) {
			t.Errorf("%s: OpenAuditor returns %v, %v; want %v", name, auditor, err, c.want)
		}
	}
	conn, err := pgx.Connect(t.Context(), scaled.DatabaseURL)
	noError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	var tables int
	if err := conn.QueryRow(t.Context(), `select count(*) from pg_class where relnamespace = 'public'::regnamespace`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("the empty Postgres database has %d relations, %v; want none", tables, err)
	}
	if files, err := os.ReadDir(embedded.DataDir); err != nil || len(files) != 0 {
		t.Errorf("the empty folder has %v, %v; want nothing", files, err)
	}
}

// execute changes the database of a folder by hand.
func execute(t *testing.T, c Config, statements string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", c.File())
	noError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	return db
}

// marks returns how many migrations the database has had.
func marks(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	noError(t, db.QueryRowContext(t.Context(), `select count(*) from schema_migrations`).Scan(&n))
	return n
}
