package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/pgstore"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
)

// TestCopyHasEverything copies a database with rows of all kinds to Postgres. The audits must agree, and the copy must go on from there.
// A second copy into the same database must be refused and change nothing.
func TestCopyHasEverything(t *testing.T) {
	config := Config{DataDir: t.TempDir(), DatabaseURL: storetest.Database(t)}
	file, err := sqlitestore.Open(t.Context(), config.DataDir, quiet)
	noError(t, err)
	storetest.Live(t, file, file)
	noError(t, file.PutSetting(t.Context(), "other", []byte("kept")))
	noError(t, file.Quarantine(t.Context(), []redpacket.Claim{{Ref: redpacket.Ref{ID: "gone"}, Share: 1, User: "u1", At: time.UnixMilli(1)}}, "test"))
	want, err := file.Audit(t.Context(), nil)
	noError(t, err)
	epoch, err := file.Epoch(t.Context())
	noError(t, err)
	noError(t, file.Close())

	found, key, err := Copy(t.Context(), config, quiet)
	if err != nil || found.Funded != want.Funded || found.Entries != want.Entries || len(found.Heads) != len(want.Heads) || found.Quarantined != 1 {
		t.Fatalf("copied %+v, %v, want %+v", found, err, want)
	}
	if key != nil {
		t.Errorf("the copy needs the key %+v, want none", key)
	}
	if _, _, err := Copy(t.Context(), config, quiet); !errors.Is(err, pgstore.ErrNotEmpty) {
		t.Errorf("a second copy: %v, want %v", err, pgstore.ErrNotEmpty)
	}

	copied, err := pgstore.Open(t.Context(), config.DatabaseURL, quiet)
	noError(t, err)
	t.Cleanup(func() { _ = copied.Close() })
	if got, err := copied.Epoch(t.Context()); err != nil || got != epoch {
		t.Errorf("the copy has the epoch %q, %v, want %q: clients go on at the seqs that they know", got, err, epoch)
	}
	if got, err := copied.Setting(t.Context(), "other"); err != nil || string(got) != "kept" {
		t.Errorf("a setting is %q, %v", got, err)
	}
	if err := copied.Quarantine(t.Context(), []redpacket.Claim{{Ref: redpacket.Ref{ID: "gone"}, Share: 2, User: "u1", At: time.UnixMilli(2)}}, "test"); err != nil {
		t.Errorf("a new row that Postgres numbers: %v", err)
	}
	if _, _, err := copied.Adjust(t.Context(), redpacket.Adjustment{ID: "new", User: "u1", Amount: 5, Key: "new", Hash: []byte("new"), At: time.Now()}); err != nil {
		t.Errorf("a credit in the copy: %v", err)
	}
	after, err := copied.Audit(t.Context(), nil)
	if err != nil || len(after.Differences) > 0 || after.Funded != want.Funded+5 {
		t.Errorf("the audit after a credit: %+v, %v", after, err)
	}
}

// TestCopyRefusesAFolderInUse copies from a folder that a server uses.
func TestCopyRefusesAFolderInUse(t *testing.T) {
	config := Config{DataDir: t.TempDir()}
	engines, err := Open(t.Context(), config, quiet)
	noError(t, err)
	t.Cleanup(func() { _ = engines.Close() })
	config.DatabaseURL = "postgres://127.0.0.1:1/none"
	if _, _, err := Copy(t.Context(), config, quiet); !errors.Is(err, ErrFolderInUse) {
		t.Errorf("%v, want %v", err, ErrFolderInUse)
	}
}

// TestCopyDoesNotMigrateADatabaseInUse names a database that has rows and no schema of hongbao, by mistake. It must stay as it is.
func TestCopyDoesNotMigrateADatabaseInUse(t *testing.T) {
	config := Config{DataDir: t.TempDir(), DatabaseURL: storetest.Database(t)}
	file, err := sqlitestore.Open(t.Context(), config.DataDir, quiet)
	noError(t, err)
	noError(t, file.Close())
	conn, err := pgx.Connect(t.Context(), config.DatabaseURL)
	noError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if _, err := conn.Exec(t.Context(), `create table "Orders of the shop" as select 1 as id`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Copy(t.Context(), config, quiet); !errors.Is(err, pgstore.ErrNotEmpty) {
		t.Errorf("%v, want %v", err, pgstore.ErrNotEmpty)
	}
	var tables int
	if err := conn.QueryRow(t.Context(), `select count(*) from pg_tables where schemaname = current_schema()`).Scan(&tables); err != nil || tables != 1 {
		t.Errorf("%d tables afterwards, %v; want the one that was there", tables, err)
	}
}

// TestBackupNamesTheKey backs up a database that needs a data key, with the key and without it.
func TestBackupNamesTheKey(t *testing.T) {
	config := Config{DataDir: t.TempDir()}
	engines, err := Open(t.Context(), config, quiet)
	noError(t, err)
	t.Cleanup(func() { _ = engines.Close() })
	to := t.TempDir()
	key, err := Backup(t.Context(), config, filepath.Join(to, "a"))
	if err != nil || key == nil || key.Err != nil || key.File != filepath.Join(config.DataDir, DataKeyName) {
		t.Errorf("%+v, %v, want the key file of the folder", key, err)
	}
	config.DataKeyFile = filepath.Join(to, "missing")
	if key, err = Backup(t.Context(), config, filepath.Join(to, "b")); err != nil || key == nil || key.Err == nil {
		t.Errorf("%+v, %v, want a copy and an error about the key", key, err)
	}
	if _, err = Backup(t.Context(), config, filepath.Join(to, "b")); err == nil || !strings.Contains(err.Error(), "is not replaced") {
		t.Errorf("over an existing file: %v", err)
	}
	if _, err := Backup(t.Context(), Config{DatabaseURL: "postgres://db/hongbao"}, filepath.Join(to, "c")); err == nil {
		t.Error("Backup of a Postgres database succeeds")
	}
}

// TestOldFolderIsNamed opens folders of a version whose migrations had another content. The error must name the folder and the remedy,
// and nothing may change.
func TestOldFolderIsNamed(t *testing.T) {
	for name, change := range map[string]string{
		"no migrations":   `drop table schema_migrations`,
		"another content": `update schema_migrations set sum = '00'`,
	} {
		t.Run(name, func(t *testing.T) {
			config := Config{DataDir: t.TempDir()}
			books, err := MakeBooks(t.Context(), config, migrations.Auto, quiet)
			if err == nil {
				err = books.Close()
			}
			noError(t, err)
			execute(t, config, change)
			for command, open := range map[string]func() error{
				"serve":  func() error { _, err := Open(t.Context(), config, quiet); return err },
				"credit": func() error { _, err := OpenBooks(t.Context(), config, quiet); return err },
			} {
				err := open()
				if !errors.Is(err, migrations.ErrChanged) || !strings.Contains(err.Error(), config.DataDir) || !strings.Contains(err.Error(), "HONGBAO_DATA_DIR") {
					t.Errorf("%s: %v, want %v, the folder and a remedy", command, err, migrations.ErrChanged)
				}
			}
		})
	}
}
