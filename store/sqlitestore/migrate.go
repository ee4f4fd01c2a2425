package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"hongbao/migrations"
)

// migrate applies the migrations that this database has not had yet. Each is one transaction, which also records its
// name.
func migrate(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `create table if not exists schema_migrations (name text primary key) strict`); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	names, err := fs.Glob(migrations.SQLite, "sqlite/*.sql") // sorted
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := applyMigration(ctx, db, name); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return nil
}

func applyMigration(ctx context.Context, db *sql.DB, name string) error {
	text, err := fs.ReadFile(migrations.SQLite, name)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil) // begins with the write lock, so processes that start at the same time take turns
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	res, err := tx.ExecContext(ctx, `insert into schema_migrations (name) values (?) on conflict do nothing`, name)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(text)); err != nil {
		return err
	}
	return tx.Commit()
}
