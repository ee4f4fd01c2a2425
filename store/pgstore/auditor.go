package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/redpacket"
)

// Auditor audits a database with one connection and writes nothing, not even the schema. A role that may only select is
// enough, and a standby, too.
type Auditor struct{ conn *pgx.Conn }

// ErrOldSchema means that the database lacks a migration.
var ErrOldSchema = errors.New("the database has the schema of an older version: run hongbao migrate")

// OpenAuditor connects to the database. It fails with ErrOldSchema if the schema is not up to date.
func OpenAuditor(ctx context.Context, url string, log *slog.Logger) (*Auditor, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	if !setsSessionAttrs(url) {
		config.ConnConfig.ValidateConnect = nil // a standby will do
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, unavailable("connect", err)
	}
	a := &Auditor{conn}
	if err := errors.Join(prepareConn(ctx, conn, log), a.checkSchema(ctx)); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// checkSchema returns nil if the database has all migrations of this version.
func (a *Auditor) checkSchema(ctx context.Context) error {
	names, err := fs.Glob(migrations.Postgres, "postgres/*.sql")
	if err != nil {
		return err
	}
	var missing string
	_, err = reader{ctx, a.conn}.row(`select coalesce(min(i.name), '') from unnest($1::text[]) i (name)
		where not exists (select from schema_migrations where name = i.name)`, []any{names}, &missing)
	switch {
	case sqlState(err) == "42P01": // no such table
		return ErrOldSchema
	case err == nil && missing != "":
		return fmt.Errorf("%w (%s is missing)", ErrOldSchema, missing)
	}
	return outcome("read schema", err)
}

// Audit checks all books in one read-only transaction. See redpacket.Ledger.
func (a *Auditor) Audit(ctx context.Context, q *redpacket.AuditQuery) (found redpacket.Audit, err error) {
	if q == nil {
		q = &redpacket.AuditQuery{}
	}
	err = longSnapshot(ctx, a.conn, func(r reader) error {
		found, err = audit(r, *q)
		return err
	})
	return found, outcome("audit", err)
}

// Close closes the connection.
func (a *Auditor) Close() error {
	closeConn(a.conn)
	return nil
}
