package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"

	"hongbao/migrations"
	"hongbao/redpacket"
)

// Auditor audits a database file and writes nothing, not even the schema.
type Auditor struct{ read *pool }

// ErrOldSchema means that the database lacks a migration.
var ErrOldSchema = errors.New("the database has the schema of an older version: run hongbao migrate")

// OpenAuditor opens the database in dir for reading. It fails with ErrOldSchema if the schema is not up to date.
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

// checkSchema returns nil if the database has all migrations of this version.
func (a *Auditor) checkSchema(ctx context.Context) error {
	names, err := fs.Glob(migrations.SQLite, "sqlite/*.sql")
	if err != nil {
		return err
	}
	applied, err := rows(reader{ctx, a.read}, func(rs *sql.Rows) (name string, err error) { return name, rs.Scan(&name) },
		`select name from schema_migrations`)
	if err != nil && strings.Contains(err.Error(), "no such table") {
		return ErrOldSchema
	}
	if err != nil {
		return outcome("read schema", err)
	}
	known := map[string]bool{}
	for _, name := range applied {
		known[name] = true
	}
	for _, name := range names {
		if !known[name] {
			return fmt.Errorf("%w (%s is missing)", ErrOldSchema, name)
		}
	}
	return nil
}

// Audit checks all books in one snapshot. See redpacket.Ledger.
func (a *Auditor) Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error) {
	return a.read.audit(ctx, q)
}

// Close closes the file.
func (a *Auditor) Close() error { return a.read.Close() }
