package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/migrations"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/pgstore/internal/schema"
	"hongbao/store/storetest"
	"hongbao/store/tables"
)

// tables lists the tables of the database.
func tableNames(t *testing.T, s *Store) (names []string) {
	t.Helper()
	err := s.withReader(t.Context(), func(r reader) (err error) {
		names, err = tables.List(r, tables.ScanText, `select tablename::text from pg_tables where schemaname = current_schema() order by 1`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestMigrateFromEmptyAndAgain(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	first := openStore(t, url)
	want := tableNames(t, first)
	for _, name := range []string{"entries", "members", "rooms", "schema_migrations", "wallets"} {
		if !slices.Contains(want, name) {
			t.Errorf("no table %s among %v", name, want)
		}
	}
	if _, _, err := first.PutUser(t.Context(), chat.Profile{User: chat.User{ID: "kept"}}, 0); err != nil {
		t.Fatal(err)
	}
	again := openStore(t, url) // while the first one is open
	if got := tableNames(t, again); !slices.Equal(got, want) {
		t.Errorf("tables after the second start: %v, want %v", got, want)
	}
	await(t, again, `select (select count(*) from users) = 1 and (select count(*) from schema_migrations where sum <> '') = $1`, len(migrations.Postgres()))
}

// TestTenInstancesMigrateAtOnce opens an empty database from ten instances at once, directly and through PgBouncer.
// All must open, and each migration is applied once.
func TestTenInstancesMigrateAtOnce(t *testing.T) {
	t.Parallel()
	for name, route := range map[string]func(string) string{
		"direct": func(url string) string { return url }, "through PgBouncer": bouncer(t),
	} {
		t.Run(name, func(t *testing.T) {
			url := route(storetest.Database(t))
			epochs := make([]string, 10)
			var wg sync.WaitGroup
			for i := range epochs {
				wg.Go(func() {
					s, err := Open(context.Background(), url, discardLog)
					if err != nil {
						t.Error(err)
						return
					}
					if epochs[i], err = s.Epoch(context.Background()); err != nil {
						t.Error(err)
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if epochs[0] == "" || len(slices.Compact(epochs)) != 1 {
				t.Errorf("the instances have different epochs: %q", epochs)
			}
		})
	}
}

// TestMigrationDoesNotBlockOthers locks a table that a migration changes. While the migration retries, other calls
// must be able to read and write the table.
func TestMigrationDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s := openStore(t, url)
	reader, writer := connect(t, url), connect(t, url)
	must(t, pg.Simple(t.Context(), reader, `begin; select count(*) from wallets`))
	opened := make(chan error, 1)
	go func() { opened <- migrateToNext(context.WithoutCancel(t.Context()), s, discardLog) }()
	await(t, s, `select exists (select from pg_stat_activity where query like '%alter table wallets%' and wait_event_type = 'Lock' and pid <> pg_backend_pid())`)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := pg.Simple(ctx, writer, `insert into wallets (user_id, balance) values ('bob', 1)`); err != nil {
		t.Errorf("write during the migration: %v", err)
	}
	must(t, pg.Simple(t.Context(), reader, `commit`))
	if err := <-opened; err != nil {
		t.Error(err)
	}
	await(t, s, `select next = 0 from wallets where user_id = 'bob'`)
}

// migrateToNext does what a next version of the program would do when it starts: its schema has one more column of wallets.
func migrateToNext(ctx context.Context, s *Store, log *slog.Logger) error {
	next := migrations.Migration{Name: "postgres/9999_next.sql", Text: `alter table wallets add column next bigint not null default 0`, Sum: "1"}
	return schema.Prepare(ctx, s.pool, append(migrations.Postgres(), next), migrations.Auto, log)
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { pg.CloseConn(conn) })
	return conn
}

// TestFailedMigrationLeavesNothing makes a migration fail halfway. All of it is rolled back.
func TestFailedMigrationLeavesNothing(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s := openStore(t, url)
	kept := []string{"quarantine", "schema_migrations"}
	dropped := slices.DeleteFunc(tableNames(t, s), func(table string) bool { return slices.Contains(kept, table) })
	err := s.withReader(t.Context(), func(r reader) error {
		return r.SendBatch(batchOf(`delete from schema_migrations`, `drop table `+strings.Join(dropped, ", "), `drop function seal_erased_body, refuse_change`))
	})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Open(t.Context(), url, discardLog); err == nil { // fails, because the table quarantine exists already
		_ = again.Close()
		t.Error("migrated although the table quarantine exists")
	}
	if got := tableNames(t, s); !slices.Equal(got, kept) {
		t.Errorf("tables after the failure: %v", got)
	}
}

// TestSchemaOfAnotherVersion opens databases whose schema is older, newer or changed. Nothing may be written, and the error must say
// which it is. A mode that does not look must open all of them.
func TestSchemaOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statement string
		mode      migrations.Mode
		want      error
	}{
		"older, check":     {`delete from schema_migrations`, migrations.Verify, migrations.ErrOld},
		"older, off":       {`delete from schema_migrations`, migrations.Off, nil},
		"newer, auto":      {`insert into schema_migrations values ('postgres/9999_later.sql', '1')`, migrations.Auto, migrations.ErrNewer},
		"newer, check":     {`insert into schema_migrations values ('postgres/9999_later.sql', '1')`, migrations.Verify, migrations.ErrNewer},
		"newer, off":       {`insert into schema_migrations values ('postgres/9999_later.sql', '1')`, migrations.Off, nil},
		"changed, auto":    {`update schema_migrations set sum = '00' where name like '%init%'`, migrations.Auto, migrations.ErrChanged},
		"the same, check":  {`select 1`, migrations.Verify, nil},
		"no schema, check": {`drop schema public cascade; create schema public`, migrations.Verify, migrations.ErrOld},
	} {
		t.Run(name, func(t *testing.T) {
			url := migratedDatabase(t)
			conn := connect(t, url)
			must(t, pg.Simple(t.Context(), conn, c.statement))
			before := schemaState(t, conn)
			s, err := OpenWith(t.Context(), url, c.mode, discardLog)
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if err == nil {
				must(t, s.Close())
			}
			if after := schemaState(t, conn); after != before {
				t.Errorf("the migrations were %s, and are %s", before, after)
			}
		})
	}
}

// schemaState returns the migrations that the database has had, as text.
func schemaState(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	applied, err := schema.Applied(pg.Reader{Ctx: t.Context(), Conn: conn})
	must(t, err)
	return fmt.Sprint(applied)
}
