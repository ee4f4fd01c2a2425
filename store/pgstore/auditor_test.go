package pgstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// auditURL creates the role of web/docs/operate.md, whose sessions are read-only as those of a standby. It returns the URL of
// the database for that role.
func auditURL(t *testing.T, database string) string {
	t.Helper()
	conn := connect(t, database)
	role := "auditor_" + strings.TrimPrefix(conn.Config().Database, "hongbao_")
	must(t, pg.Simple(t.Context(), conn, fmt.Sprintf(`create role %s login password 'secret'; alter role %[1]s set default_transaction_read_only = on;
		grant select on all tables in schema public to %[1]s;
		revoke select on settings, users from %[1]s;
		grant select (id, ref, name, avatar, custom, suspended_at, erased_at) on users to %[1]s`, role)))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		admin, err := pgx.Connect(ctx, database)
		must(t, err)
		defer pg.CloseConn(admin)
		must(t, pg.Simple(ctx, admin, "drop owned by "+role+"; drop role "+role))
	})
	u, err := url.Parse(database)
	must(t, err)
	u.User = url.UserPassword(role, "secret")
	return u.String()
}

// TestAuditorNeedsOnlySelect audits with a role that may only select. The audit must find what an audit of the store finds,
// and must not need a writable server.
func TestAuditorNeedsOnlySelect(t *testing.T) {
	t.Parallel()
	database := migratedDatabase(t)
	s := openStore(t, database)
	storetest.Live(t, s, s)
	want, err := s.Audit(t.Context(), nil)
	must(t, err)
	reading := auditURL(t, database)
	if again, err := Open(t.Context(), reading, discardLog); err == nil {
		_ = again.Close()
		t.Error("a store opens as a role that may not write")
	}
	for _, secret := range []string{`select value from settings`, `select next_seed from users`} {
		if err := pg.Simple(t.Context(), connect(t, reading), secret); pg.SQLState(err) != "42501" {
			t.Errorf("the auditor may %s: %v", secret, err)
		}
	}
	a, err := OpenAuditor(t.Context(), reading, discardLog)
	must(t, err)
	defer func() { must(t, a.Close()) }()
	got, err := a.Audit(t.Context(), nil)
	if err != nil || len(got.Differences) > 0 || got.Entries != want.Entries || got.Funded != want.Funded {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	heads, err := s.Heads(t.Context())
	must(t, err)
	if got, err = a.Audit(t.Context(), &redpacket.AuditQuery{Since: heads}); err != nil || len(got.Differences) > 0 {
		t.Errorf("what is newer: %+v, %v", got.Differences, err)
	}
	must(t, pg.Simple(t.Context(), connect(t, database), `update wallets set balance = balance + 1 where user_id = 'u1'`))
	if got, err = a.Audit(t.Context(), nil); err != nil || len(got.Differences) != 2 {
		t.Errorf("after a change: %+v, %v", got.Differences, err)
	}
}

// TestAuditorDoesNotMigrate opens databases with an old schema and with none. Both must stay as they are.
func TestAuditorDoesNotMigrate(t *testing.T) {
	t.Parallel()
	database := storetest.Database(t)
	conn := connect(t, database)
	for _, statement := range []string{`select 1`, `create table schema_migrations (name text primary key, sum text not null)`} {
		must(t, pg.Simple(t.Context(), conn, statement))
		if a, err := OpenAuditor(t.Context(), database, discardLog); !errors.Is(err, migrations.ErrOld) {
			t.Errorf("after %s: %v, %v, want %v", statement, a, err, migrations.ErrOld)
		}
	}
	var tables int
	must(t, conn.QueryRow(t.Context(), `select count(*) from pg_tables where schemaname = 'public'`).Scan(&tables))
	if tables != 1 {
		t.Errorf("%d tables, want only schema_migrations", tables)
	}
	if _, err := OpenAuditor(t.Context(), strings.Replace(database, conn.Config().Database, "nowhere", 1), discardLog); err == nil || errors.Is(err, migrations.ErrOld) {
		t.Errorf("a database that does not exist: %v", err)
	} else if failed := new(pgconn.PgError); !errors.As(err, &failed) {
		t.Errorf("got %v, want what Postgres said", err)
	}
}
