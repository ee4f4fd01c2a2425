package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/migrations"
	"hongbao/redpacket"
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

// TestMigrateMoneyOfPreviousVersion migrates a database that has wallets. They keep their balance and start at
// version 0. The money in circulation is counted by the migration, and again after an older version has made credits.
func TestMigrateMoneyOfPreviousVersion(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	conn := connect(t, url)
	must(t, pg.Simple(t.Context(), conn, migrations.Postgres()[0].Text))
	must(t, pg.Simple(t.Context(), conn, `create table schema_migrations (name text primary key); insert into schema_migrations values ('postgres/0001_init.sql')`))
	credit := func(id string, amount int) { // credits as the previous version of the program does
		t.Helper()
		must(t, pg.Simple(t.Context(), conn, fmt.Sprintf(`insert into transfers (id, at, debit, credit, amount, kind, user_id, key, hash)
				values ('%[1]s', 1, 'outside', 'user:ann', %[2]d, 'credit', 'ann', '%[1]s', '\x00');
			insert into wallets (user_id, balance) values ('ann', %[2]d) on conflict (user_id) do update set balance = wallets.balance + %[2]d`, id, amount)))
	}
	credit("a", 1000)
	must(t, pg.Simple(t.Context(), conn, `insert into transfers (id, at, debit, credit, amount, kind, user_id, key, hash)
			values ('b', 1, 'user:ann', 'outside', 300, 'debit', 'ann', 'b', '\x00');
		update wallets set balance = 700`))

	s := openStore(t, url)
	account := func() redpacket.Account {
		t.Helper()
		acc, err := s.Account(t.Context(), "ann")
		must(t, err)
		return acc
	}
	if acc := account(); acc.Balance != 700 || acc.Version != 0 {
		t.Errorf("after the migration: %+v", acc)
	}
	await(t, s, `select (select amount from circulation) = 700`)
	credit("c", 50)
	must(t, s.RecountCirculation(t.Context()))
	await(t, s, `select (select amount from circulation) = 750`)
	acc, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "d", User: "ann", Amount: -50, Key: "d", Hash: []byte("d"), At: time.Now()})
	if err != nil || acc.Balance != 700 || acc.Version != 1 || account() != acc {
		t.Errorf("after a debit: %+v, %v", acc, err)
	}
	chained, err := s.ChainRows(t.Context())
	must(t, err)
	if a, err := s.Audit(t.Context(), nil); err != nil || len(a.Differences) > 0 || a.Funded != 700 || chained != 3 {
		t.Errorf("%d rows chained; audit: %+v, %v", chained, a, err)
	}
}

// TestMigrationDoesNotBlockOthers locks a table that a migration changes. While the migration retries, other calls
// must be able to read and write the table.
func TestMigrationDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s := openStore(t, url)
	must(t, s.withReader(t.Context(), func(r reader) error {
		return r.SendBatch(batchOf(`delete from schema_migrations where name like '%account_version%'`,
			`alter table wallets drop column version, drop column sends`, `alter table users drop column sends`))
	}))
	reader, writer := connect(t, url), connect(t, url)
	must(t, pg.Simple(t.Context(), reader, `begin; select count(*) from wallets`))
	opened := make(chan error, 1)
	go func() {
		again, err := Open(context.WithoutCancel(t.Context()), url, discardLog)
		if err == nil {
			err = again.Close()
		}
		opened <- err
	}()
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
	await(t, s, `select version = 0 from wallets where user_id = 'bob'`)
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
		"older, check":     {`delete from schema_migrations where name like '%sums%'; alter table schema_migrations drop column sum`, migrations.Verify, migrations.ErrOld},
		"older, off":       {`delete from schema_migrations where name like '%sums%'; alter table schema_migrations drop column sum`, migrations.Off, nil},
		"newer, auto":      {`insert into schema_migrations (name) values ('postgres/9999_later.sql')`, migrations.Auto, migrations.ErrNewer},
		"newer, check":     {`insert into schema_migrations (name) values ('postgres/9999_later.sql')`, migrations.Verify, migrations.ErrNewer},
		"newer, off":       {`insert into schema_migrations (name) values ('postgres/9999_later.sql')`, migrations.Off, nil},
		"changed, auto":    {`update schema_migrations set sum = '00' where name like '%init%'`, migrations.Auto, migrations.ErrChanged},
		"the same, check":  {`select 1`, migrations.Verify, nil},
		"no sums, auto":    {`update schema_migrations set sum = ''`, migrations.Auto, nil},
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
			if after := schemaState(t, conn); after != before && name != "no sums, auto" {
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
