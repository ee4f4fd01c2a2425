package pgstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// migrationLock is the number of an advisory lock that only these migrations take. A migration holds it until its
// transaction ends. So instances that start at once migrate one after another, also through PgBouncer.
const migrationLock = 0x686f6e6762616f

// prepareSchema makes the schema fit this version, or says why it does not. In mode Verify it only checks the schema,
// and in mode Off it does nothing. On Citus it also splits the tables (place) or, in mode Verify, checks that they are
// split. A migration is one transaction, which also records its name. A migration has no time limit.
// A role that may not change the schema is enough if nothing is missing.
func prepareSchema(ctx context.Context, p *pg.Pool, mode migrations.Mode, log *slog.Logger) error {
	if mode == migrations.Off {
		return nil
	}
	pooled, err := p.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer pooled.Release()
	applied, err := appliedMigrations(reader{ctx: ctx, conn: pooled.Conn()})
	if err != nil {
		return err
	}
	if mode == migrations.Verify {
		return errors.Join(migrations.Check(migrations.Postgres(), applied), checkSplit(reader{ctx: ctx, conn: pooled.Conn()}))
	}
	missing, err := migrations.Missing(migrations.Postgres(), applied)
	if err != nil {
		return err
	}
	watch := &migrationWatch{pool: p, log: log}
	for _, m := range missing {
		if err := watch.applyWhenFree(ctx, pooled.Conn(), m); err != nil {
			return fmt.Errorf("migrate %s: %w", m.Name, err)
		}
	}
	if len(missing) > 0 || slices.Contains(slices.Collect(maps.Values(applied)), "") {
		if err := watch.storeSums(ctx, pooled.Conn()); err != nil {
			return err
		}
	}
	return watch.place(ctx, pooled.Conn(), mode)
}

// place splits the tables of a Citus cluster, unless they are split already. If there are users, it does so only in
// mode Split, and returns errNotSplit otherwise. On a Postgres without Citus it does nothing.
func (m *migrationWatch) place(ctx context.Context, conn *pgx.Conn, mode migrations.Mode) error {
	r := reader{ctx: ctx, conn: conn}
	if citus, err := hasCitus(r); err != nil || !citus {
		return err
	}
	if split, err := isSplit(r); err != nil || split {
		return err
	}
	stop, err := m.begin(ctx, conn)
	if err != nil {
		return err
	}
	defer stop()
	if split, err := isSplit(r); err != nil || split { // another instance was quicker
		return errors.Join(err, rollback(ctx, conn))
	}
	filled, err := r.Row(`select 1 from users limit 1`, nil, new(int))
	if err != nil {
		return err
	}
	if filled && mode != migrations.Split {
		return errors.Join(errNotSplit, rollback(ctx, conn))
	}
	m.log.Info("Citus: tables are split over the workers", "tables", len(splitTables), "buckets", buckets)
	if err := splitAll(ctx, conn); err != nil {
		return fmt.Errorf("split the tables: %w", err)
	}
	return commit(ctx, conn)
}

// CheckSchema returns an error of package migrations if the schema is not exactly that of this version.
func (s *Store) CheckSchema(ctx context.Context) error {
	return s.withReader(ctx, func(r reader) error {
		applied, err := appliedMigrations(r)
		if err != nil {
			return err
		}
		return migrations.Check(migrations.Postgres(), applied)
	})
}

// appliedMigrations returns the sums of the migrations that the database has had, by name. See migrations.Missing.
func appliedMigrations(r reader) (map[string]string, error) {
	applied := map[string]string{}
	found, err := tables.List(r, func(rs tables.Row) (m migrations.Migration, err error) { return m, rs.Scan(&m.Name, &m.Sum) },
		`select name, coalesce(to_jsonb(m) ->> 'sum', '') from schema_migrations m`)
	if err != nil && pg.SQLState(err) != "42P01" { // no such table: an empty database
		return nil, tables.Outcome("read schema", err)
	}
	for _, m := range found {
		applied[m.Name] = m.Sum
	}
	return applied, nil
}

// storeSums stores the sums of the migrations that were applied without one.
func (m *migrationWatch) storeSums(ctx context.Context, conn *pgx.Conn) error {
	var names, sums []string
	for _, done := range migrations.Postgres() {
		names, sums = append(names, done.Name), append(sums, done.Sum)
	}
	stop, err := m.begin(ctx, conn)
	if err != nil {
		return err
	}
	defer stop()
	if _, err := conn.Exec(ctx, `update schema_migrations m set sum = i.sum from unnest($1::text[], $2::text[]) i (name, sum)
		where m.name = i.name and m.sum = ''`, names, sums); err != nil {
		return fmt.Errorf("store the sums of migrations: %w", err)
	}
	return commit(ctx, conn)
}

// applyWhenFree applies the migration, and retries while a table that it changes is in use. A transaction that waits
// for a table lock blocks later transactions from the table, so each try waits only for the lock_timeout of
// lockMigration.
func (m *migrationWatch) applyWhenFree(ctx context.Context, conn *pgx.Conn, missing migrations.Migration) error {
	for {
		err := m.apply(ctx, conn, missing)
		if !lockTimeout(err) {
			return err
		}
		if err := rollback(ctx, conn); err != nil {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// beginMigrating begins the transaction of a migration. If the instance freezes, Postgres ends the transaction after 10 s, so
// that other instances can start.
const beginMigrating = `begin; set local idle_in_transaction_session_timeout = 10000`

// lockMigration waits for the migrations of other instances, bounds later waits for locks, and creates the table of
// migrations if it is missing.
const lockMigration = `select pg_advisory_xact_lock(%d); set local lock_timeout = '500ms';
	create table if not exists schema_migrations (name text primary key)`

func (m *migrationWatch) apply(ctx context.Context, conn *pgx.Conn, missing migrations.Migration) error {
	stop, err := m.begin(ctx, conn)
	if err != nil {
		return err
	}
	defer stop()
	// This needs a separate round trip, to see what the previous holder of the migration lock has committed.
	tag, err := conn.Exec(ctx, `insert into schema_migrations (name) values ($1) on conflict do nothing`, missing.Name)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return rollback(ctx, conn)
	}
	if err := simple(ctx, conn, missing.Text); err != nil {
		return err
	}
	return commit(ctx, conn)
}
