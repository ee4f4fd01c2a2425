package pgstore

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
)

// migrationLock is a number that only those who migrate a hongbao database take. It is held to the end of the
// transaction: instances that start at once take turns, through PgBouncer too.
const migrationLock = 0x686f6e6762616f

// migrate applies the migrations that this database has not had yet, each with its mark in one transaction. It
// lasts as long as it must.
func migrate(ctx context.Context, p *pool) error {
	lent, err := p.lend(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer lent.Release()
	names, err := fs.Glob(migrations.Postgres, "postgres/*.sql") // sorted
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := applyMigration(ctx, lent.Conn(), name); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return nil
}

func applyMigration(ctx context.Context, conn *pgx.Conn, name string) error {
	text, err := fs.ReadFile(migrations.Postgres, name)
	if err != nil {
		return err
	}
	if err := simple(ctx, conn, fmt.Sprintf(`begin; select pg_advisory_xact_lock(%d);
		create table if not exists schema_migrations (name text primary key)`, migrationLock)); err != nil {
		return err
	}
	// Not in the same round trip: it must see what the one who held the lock has committed.
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
