package pgstore

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// Auditor audits a database with one connection and writes nothing, not even the schema. A role that may only select is
// enough, and a standby, too.
type Auditor struct {
	conn  *pgx.Conn
	citus bool
}

// OpenAuditor connects to the database. It fails with an error of package migrations if the schema is not that of this
// version.
func OpenAuditor(ctx context.Context, url string, log *slog.Logger) (*Auditor, error) {
	config, err := pg.ParseReadURL(url)
	if err != nil {
		return nil, err
	}
	conn, err := pg.ConnectFirst(ctx, config.ConnConfig)
	if err != nil {
		return nil, tables.Unavailable("connect to HONGBAO_DATABASE_URL", err)
	}
	a := &Auditor{conn: conn}
	if err = errors.Join(pg.PrepareConn(ctx, conn, log), a.checkSchema(ctx)); err == nil {
		a.citus, err = isSplit(reader{ctx: ctx, conn: conn})
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// checkSchema returns nil if the database has exactly the migrations of this version.
func (a *Auditor) checkSchema(ctx context.Context) error {
	applied, err := appliedMigrations(reader{ctx: ctx, conn: a.conn})
	if err != nil {
		return err
	}
	return migrations.Check(migrations.Postgres(), applied)
}

// Audit checks all books in one read-only transaction; on Citus see auditTwice. It does the same as Audit of
// redpacket.Ledger.
func (a *Auditor) Audit(ctx context.Context, q *redpacket.AuditQuery) (found redpacket.Audit, err error) {
	found, err = auditTwice(ctx, a.citus, q, func(q *redpacket.AuditQuery) (found redpacket.Audit, err error) {
		err = longSnapshot(ctx, a.conn, a.citus, func(r reader) error {
			found, err = auditAs(r, commandAudit, q)
			return err
		})
		return found, err
	})
	return found, tables.Outcome("audit", err)
}

// Close closes the connection.
func (a *Auditor) Close() error {
	pg.CloseConn(a.conn)
	return nil
}
