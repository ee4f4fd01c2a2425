package schema

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// migrationLock is the number of an advisory lock that only these migrations take. A migration holds it until its
// transaction ends. So instances that start at once migrate one after another, also through PgBouncer.
const migrationLock = 0x686f6e6762616f

// Prepare makes the schema fit this version, or says why it does not. In mode Verify it only checks the schema,
// and in mode Off it does nothing. On Citus it also splits the tables (place) or, in mode Verify, checks that they are
// split. A migration is one transaction, which also records its name. A migration has no time limit.
// A role that may not change the schema is enough if nothing is missing. all are the migrations of this version.
func Prepare(ctx context.Context, p *pg.Pool, all []migrations.Migration, mode migrations.Mode, log *slog.Logger) error {
	if mode == migrations.Off {
		return nil
	}
	pooled, err := p.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer pooled.Release()
	applied, err := Applied(pg.Reader{Ctx: ctx, Conn: pooled.Conn()})
	if err != nil {
		return err
	}
	if mode == migrations.Verify {
		return errors.Join(migrations.Check(all, applied), checkSplit(pg.Reader{Ctx: ctx, Conn: pooled.Conn()}))
	}
	missing, err := migrations.Missing(all, applied)
	if err != nil {
		return err
	}
	watch := &migrationWatch{pool: p, log: log}
	for _, m := range missing {
		if err := watch.applyWhenFree(ctx, pooled.Conn(), m); err != nil {
			return fmt.Errorf("migrate %s: %w", m.Name, err)
		}
	}
	return watch.place(ctx, pooled.Conn(), mode)
}

// place splits the tables of a Citus cluster, unless they are split already. If there are users, it does so only in
// mode Split, and returns ErrNotSplit otherwise. On a Postgres without Citus it does nothing.
func (m *migrationWatch) place(ctx context.Context, conn *pgx.Conn, mode migrations.Mode) error {
	r := pg.Reader{Ctx: ctx, Conn: conn}
	if citus, err := hasCitus(r); err != nil || !citus {
		return err
	}
	if split, err := IsSplit(r); err != nil || split {
		return err
	}
	stop, err := m.begin(ctx, conn)
	if err != nil {
		return err
	}
	defer stop()
	if split, err := IsSplit(r); err != nil || split { // another instance was quicker
		return errors.Join(err, pg.Rollback(ctx, conn))
	}
	filled, err := r.Row(`select 1 from users limit 1`, nil, new(int))
	if err != nil {
		return err
	}
	if filled && mode != migrations.Split {
		return errors.Join(ErrNotSplit, pg.Rollback(ctx, conn))
	}
	m.log.Info("Citus: tables are split over the workers", "tables", len(splitTables), "buckets", Buckets)
	if err := splitAll(ctx, conn); err != nil {
		return fmt.Errorf("split the tables: %w", err)
	}
	return pg.Commit(ctx, conn)
}

// Applied returns the sums of the migrations that the database has had, by name. See migrations.Missing.
func Applied(r pg.Reader) (map[string]string, error) {
	applied := map[string]string{}
	found, err := tables.List(r, func(rs tables.Row) (m migrations.Migration, err error) { return m, rs.Scan(&m.Name, &m.Sum) },
		`select name, sum from schema_migrations`)
	if err != nil && pg.SQLState(err) != "42P01" { // no such table: an empty database
		return nil, tables.Outcome("read schema", err)
	}
	for _, m := range found {
		applied[m.Name] = m.Sum
	}
	return applied, nil
}

// applyWhenFree applies the migration, and retries while a table that it changes is in use. A transaction that waits
// for a table lock blocks later transactions from the table, so each try waits only for the lock_timeout of
// lockMigration.
func (m *migrationWatch) applyWhenFree(ctx context.Context, conn *pgx.Conn, missing migrations.Migration) error {
	for {
		err := m.apply(ctx, conn, missing)
		if !pg.LockTimeout(err) {
			return err
		}
		if err := pg.Rollback(ctx, conn); err != nil {
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
	create table if not exists schema_migrations (name text primary key, sum text not null)`

func (m *migrationWatch) apply(ctx context.Context, conn *pgx.Conn, missing migrations.Migration) error {
	stop, err := m.begin(ctx, conn)
	if err != nil {
		return err
	}
	defer stop()
	// This needs a separate round trip, to see what the previous holder of the migration lock has committed.
	tag, err := conn.Exec(ctx, `insert into schema_migrations (name, sum) values ($1, $2) on conflict do nothing`, missing.Name, missing.Sum)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return pg.Rollback(ctx, conn)
	}
	if err := pg.Simple(ctx, conn, missing.Text); err != nil {
		return err
	}
	return pg.Commit(ctx, conn)
}

// migrationWatch logs which sessions a migration waits for. It ends those of audits in the background, which hold locks for up
// to an hour. Otherwise the migration would be tried again and again for that hour, and each try stalls its tables. Such an
// audit begins again later.
type migrationWatch struct {
	pool   *pg.Pool
	log    *slog.Logger
	logged time.Time // when it has last logged what a migration waits for
}

const (
	watchEvery   = 100 * time.Millisecond
	watchTimeout = time.Second
	logWaitEvery = 10 * time.Second
)

// begin begins the transaction of a migration, and watches it until stop is called. It waits until the migrations of
// other instances have ended.
func (m *migrationWatch) begin(ctx context.Context, conn *pgx.Conn) (stop func(), err error) {
	if err := pg.Simple(ctx, conn, beginMigrating); err != nil {
		return nil, err
	}
	var pid uint32 // the connection's own number is not that of Postgres behind PgBouncer
	if err := conn.QueryRow(ctx, `select pg_backend_pid()`).Scan(&pid); err != nil {
		return nil, err
	}
	stop = m.watch(ctx, pid)
	if err := pg.Simple(ctx, conn, fmt.Sprintf(lockMigration, migrationLock)); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

func (m *migrationWatch) watch(ctx context.Context, pid uint32) (stop func()) {
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			select {
			case <-time.After(watchEvery):
				if err := m.look(ctx, pid); err != nil {
					m.log.Debug("what a migration waits for is unknown", "err", err)
				}
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		watching.Wait()
	}
}

// blocker is a session that a migration waits for.
type blocker struct {
	pid               uint32
	application, user string
}

// look ends the audits in the background that the session waits for, and logs the other sessions that it waits for.
func (m *migrationWatch) look(ctx context.Context, pid uint32) error {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	pooled, err := m.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	blockers, err := tables.List(pg.Reader{Ctx: ctx, Conn: pooled.Conn()}, func(rs tables.Row) (b blocker, err error) {
		return b, rs.Scan(&b.pid, &b.application, &b.user)
	}, `select b.pid, coalesce(a.application_name, ''), coalesce(a.usename, '')
		from unnest(pg_blocking_pids($1)) b (pid) left join pg_stat_activity a on a.pid = b.pid`, pid)
	if err != nil {
		return err
	}
	var others []string
	for _, b := range blockers {
		other := fmt.Sprintf("%q of user %s, process %d", b.application, b.user, b.pid)
		if b.application == BackgroundAudit {
			_, err := pooled.Exec(ctx, `select pg_terminate_backend($1)`, b.pid)
			if err == nil {
				m.log.Info("audit in the background ended for a migration", "process", b.pid)
				continue
			}
			other += ", which cannot be ended: " + err.Error()
		}
		others = append(others, other)
	}
	if len(others) > 0 && time.Since(m.logged) >= logWaitEvery {
		m.logged = time.Now()
		m.log.Warn("migration waits for other sessions", "sessions", strings.Join(others, "; "))
	}
	return nil
}
