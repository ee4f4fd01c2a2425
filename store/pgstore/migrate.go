package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
)

// migrationLock is the number of an advisory lock that only these migrations take. A migration holds it until its
// transaction ends. So instances that start at once migrate one after another, also through PgBouncer.
const migrationLock = 0x686f6e6762616f

// migrate applies the migrations that this database has not had yet. Each is one transaction, which also records the
// migration's name. There is no time limit.
func migrate(ctx context.Context, p *pool) error {
	pooled, err := p.acquire(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer pooled.Release()
	names, err := fs.Glob(migrations.Postgres, "postgres/*.sql") // sorted
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := applyWhenFree(ctx, pooled.Conn(), name); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return nil
}

// applyWhenFree applies the migration, and retries while a table that it changes is in use. A transaction that waits
// for a table lock blocks later transactions from the table, so each try waits only for the lock_timeout of
// beginMigrating.
func applyWhenFree(ctx context.Context, conn *pgx.Conn, name string) error {
	for {
		err := applyMigration(ctx, conn, name)
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

// beginMigrating begins a migration. If its instance freezes, Postgres ends it after 10 s, so that other instances
// can start.
const beginMigrating = `begin; set local idle_in_transaction_session_timeout = 10000;
	select pg_advisory_xact_lock(%d); set local lock_timeout = '500ms';
	create table if not exists schema_migrations (name text primary key)`

func applyMigration(ctx context.Context, conn *pgx.Conn, name string) error {
	text, err := fs.ReadFile(migrations.Postgres, name)
	if err != nil {
		return err
	}
	if err := simple(ctx, conn, fmt.Sprintf(beginMigrating, migrationLock)); err != nil {
		return err
	}
	// This needs a separate round trip, to see what the previous holder of the migration lock has committed.
	tag, err := conn.Exec(ctx, `insert into schema_migrations (name) values ($1) on conflict do nothing`, name)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return rollback(ctx, conn)
	}
	if err := simple(ctx, conn, string(text)); err != nil {
		return err
	}
	return commit(ctx, conn)
}
