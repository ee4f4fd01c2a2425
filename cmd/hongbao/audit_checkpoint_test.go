package main

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// TestAuditFromACheckpoint audits twice with a checkpoint, and then changes rows. A difference must leave the checkpoint as
// it is.
func TestAuditFromACheckpoint(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "audit.json")
	audit := []string{"audit", "--data-dir", dir, "--checkpoint", file}
	mustPrint(t, 0, "", "migrate", "--data-dir", dir)
	mustPrint(t, 0, "the books balance", audit...) // of an empty database
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("a checkpoint without heads was written: %v", err)
	}
	books, err := store.OpenBooks(t.Context(), store.Config{DataDir: dir}, slog.New(slog.DiscardHandler))
	noError(t, err)
	live(t, books)
	noError(t, books.Close())
	if out := mustPrint(t, 0, "the books balance", audit...); strings.Contains(out, "looked only") {
		t.Errorf("without a checkpoint, the audit leaves rows out: %s", out)
	}
	first, err := readCheckpoint(file)
	if err != nil || len(first.Heads) == 0 || !first.At.Equal(first.Whole) {
		t.Fatalf("%+v, %v", first, err)
	}
	if heads, err := readHeads(file); err != nil || len(heads) != len(first.Heads) {
		t.Errorf("--heads reads %v, %v from the checkpoint", heads, err)
	}
	mustPrint(t, 0, "", "credit", "--data-dir", dir, "--user", "u1", "--key", "newer", "--amount", "5")
	mustPrint(t, 0, "looked only", audit...)
	second, err := readCheckpoint(file)
	if err != nil || !second.Whole.Equal(first.Whole) || !second.At.After(first.At) {
		t.Errorf("%+v, %v after %+v", second, err, first)
	}
	mustPrint(t, 0, "", "credit", "--data-dir", dir, "--user", "u1", "--key", "newest", "--amount", "5")
	changeFile(t, dir, `update transfers set note = 'forged' where key = 'newest'`)
	for range 2 {
		mustPrint(t, 1, "DIFFERENCE link", audit...)
	}
	if again, err := readCheckpoint(file); err != nil || !again.At.Equal(second.At) {
		t.Errorf("a difference has changed the checkpoint: %+v, %v", again, err)
	}
	for _, text := range []string{"{}", "no JSON", `{"heads":["1/2"]}`} {
		noError(t, os.WriteFile(file, []byte(text), 0o600))
		mustPrint(t, 1, "remove the file", audit...)
	}
}

// TestAuditOnAStandby audits on a real standby, twice from a checkpoint, as a role that may only select and whose sessions are
// read-only.
func TestAuditOnAStandby(t *testing.T) {
	primary := storetest.Postgres(t)
	database := newDatabase(t, primary)
	mustPrint(t, 0, "up to date", "migrate", "--database-url", database)
	books, err := store.MakeBooks(t.Context(), store.Config{DatabaseURL: database}, migrations.Auto, slog.New(slog.DiscardHandler))
	noError(t, err)
	defer func() { _ = books.Close() }() // the test has ended
	live(t, books)
	execute(t, database, `create role auditor login password 'secret'; alter role auditor set default_transaction_read_only = on;
		grant select on all tables in schema public to auditor`)
	standby, err := primary.StartStandby(t.Context(), t.TempDir())
	noError(t, err)
	defer standby.Stop()
	file := filepath.Join(t.TempDir(), "audit.json")
	audit := func(want int, words string) {
		t.Helper()
		catchUp(t, standby, primary)
		address := writeFile(t, auditorURL(t, standby, database)) // it has a password, which no flag takes
		mustPrint(t, want, words, "audit", "--brief", "--database-url-file", address, "--checkpoint", file)
	}
	audit(0, "the books balance")
	_, _, err = books.Ledger.Adjust(t.Context(), redpacket.Adjustment{ID: "newer", User: "u1", Amount: 5, Key: "newer", Hash: []byte("newer")})
	noError(t, err)
	audit(0, "looked only at what is newer")
	execute(t, database, `update wallets set balance = balance + 1 where user_id = 'u1'`)
	audit(1, "DIFFERENCE wallet u1")
}

// live creates rooms with texts and packets that have ended.
func live(t *testing.T, books *store.Books) {
	t.Helper()
	storetest.Live(t, books.Ledger, books.Chat)
	l := storetest.Life{TB: t, Ledger: books.Ledger, Rooms: books.Chat, At: time.UnixMilli(1_700_000_000_000)}
	for _, id := range []string{"open", "untouched"} {
		l.End(redpacket.Packet{Ref: redpacket.Ref{ID: id}}, redpacket.Expired)
	}
}

// auditorURL is the URL of the database on the standby for the role auditor. It fails the test if the server is no standby.
func auditorURL(t *testing.T, standby *loopback.Postgres, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	noError(t, err)
	u.Host, u.User = standby.Addr(), url.UserPassword("auditor", "secret")
	conn, err := pgx.Connect(t.Context(), u.String())
	noError(t, err)
	var replays bool
	if err := conn.QueryRow(t.Context(), `select pg_is_in_recovery()`).Scan(&replays); err != nil || !replays {
		t.Fatalf("in recovery: %v, %v", replays, err)
	}
	noError(t, conn.Close(t.Context()))
	return u.String()
}

// newDatabase creates a database and returns its URL. A connection to it may take a minute: on a busy machine, it can take longer than the
// program waits by default.
func newDatabase(t *testing.T, server *loopback.Postgres) string {
	t.Helper()
	database, err := server.NewDatabase(t.Context())
	noError(t, err)
	return database + "&connect_timeout=60"
}

func catchUp(t *testing.T, standby, primary *loopback.Postgres) {
	t.Helper()
	noError(t, standby.CatchUp(t.Context(), primary))
}

func execute(t *testing.T, database, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	noError(t, err)
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	noError(t, conn.Close(t.Context()))
}
