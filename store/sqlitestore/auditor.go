package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/tables"
)

// Auditor reads a database file, to audit, copy or back it up. It writes nothing to that file, not even the schema.
type Auditor struct{ read *pool }

// OpenAuditor opens the database in dir for reading. It fails with an error of package migrations if the schema is not that
// of this version.
func OpenAuditor(ctx context.Context, dir string) (*Auditor, error) {
	path := filepath.Join(dir, FileName)
	q := url.Values{"mode": {"ro"}, "_pragma": {lockTimeout, "query_only(1)", "temp_store(MEMORY)"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	a := &Auditor{newPool(db)}
	if err := a.checkSchema(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// checkSchema returns nil if the database has exactly the migrations of this version.
func (a *Auditor) checkSchema(ctx context.Context) error {
	applied, err := appliedMigrations(reader{ctx: ctx, on: a.read})
	if err != nil {
		return tables.Outcome("read schema", err)
	}
	return migrations.Check(migrations.SQLite(), applied)
}

// Audit checks the books in one snapshot. See redpacket.Ledger.
func (a *Auditor) Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error) {
	return a.read.audit(ctx, q)
}

// Setting returns the value that is stored under the name, or nil.
func (a *Auditor) Setting(ctx context.Context, name string) (value []byte, err error) {
	_, err = reader{ctx: ctx, on: a.read}.Row(`select value from settings where name = ?`, []any{name}, &value)
	return value, tables.Outcome("read setting", err)
}

// Close closes the file.
func (a *Auditor) Close() error { return a.read.Close() }
