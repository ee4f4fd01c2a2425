package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"hongbao/migrations"
	"hongbao/store/tables"
)

// prepareSchema applies the missing migrations, or says why the schema does not fit this version. With migrations.Off it does
// nothing, and with migrations.Verify it only checks. A migration is one transaction, which also records its name.
func prepareSchema(ctx context.Context, db *sql.DB, mode migrations.Mode) error {
	if mode == migrations.Off {
		return nil
	}
	applied, columns, err := readSchema(ctx, db)
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	missing, err := migrations.Missing(migrations.SQLite(), applied)
	if err != nil {
		return err
	}
	if len(applied) == 0 && len(columns) > 0 {
		return fmt.Errorf("%w (it has %d columns and no list of migrations)", migrations.ErrChanged, len(columns))
	}
	if mode == migrations.Verify {
		return migrations.Check(migrations.SQLite(), applied)
	}
	if len(missing) == 0 {
		return nil
	}
	if _, err := db.ExecContext(ctx, `create table if not exists schema_migrations (name text primary key, sum text not null) strict`); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for _, m := range missing {
		if err := applyMigration(ctx, db, m); err != nil {
			return fmt.Errorf("migrate %s: %w", m.Name, err)
		}
	}
	return nil
}

// readSchema returns the migrations that the database has had, and its columns, both as of one moment: another process may
// be migrating the database.
func readSchema(ctx context.Context, db *sql.DB) (applied map[string]string, columns []string, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, "begin deferred"); err != nil {
		return nil, nil, err
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "rollback") }()
	// The first read that succeeds begins the snapshot. That of the migrations fails in an empty database.
	var n int
	if err := conn.QueryRowContext(ctx, "select count(*) from sqlite_schema").Scan(&n); err != nil {
		return nil, nil, err
	}
	if applied, err = appliedMigrations(reader{ctx: ctx, on: conn}); err == nil {
		columns, err = tables.List(reader{ctx: ctx, on: conn}, tables.ScanText, columnsOfTables)
	}
	return applied, columns, err
}

// columnsOfTables lists the columns of all tables but that of the migrations.
const columnsOfTables = `select m.name || '.' || c.name from sqlite_schema m join pragma_table_info(m.name) c
	where m.type = 'table' and m.name not like 'sqlite\_%' escape '\' and m.name <> 'schema_migrations' order by 1`

// CheckSchema returns an error of package migrations if the schema is not exactly that of this version.
func (s *Store) CheckSchema(ctx context.Context) error { return (&Auditor{s.read}).checkSchema(ctx) }

// appliedMigrations returns the sums of the migrations that the database has had, by name. See migrations.Missing.
func appliedMigrations(q tables.Querier) (map[string]string, error) {
	found, err := tables.List(q, scanMigration, `select name, sum from schema_migrations`)
	if err != nil && !strings.Contains(err.Error(), "no such table") { // an empty database has none
		return nil, err
	}
	applied := map[string]string{}
	for _, m := range found {
		applied[m.Name] = m.Sum
	}
	return applied, nil
}

func scanMigration(rs tables.Row) (m migrations.Migration, err error) {
	return m, rs.Scan(&m.Name, &m.Sum)
}

func applyMigration(ctx context.Context, db *sql.DB, m migrations.Migration) error {
	tx, err := db.BeginTx(ctx, nil) // begins with the write lock, so processes that start at the same time take turns
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	res, err := tx.ExecContext(ctx, `insert into schema_migrations (name, sum) values (?, ?) on conflict do nothing`, m.Name, m.Sum)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, m.Text); err != nil {
		return err
	}
	return tx.Commit()
}
