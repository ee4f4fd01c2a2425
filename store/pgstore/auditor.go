package pgstore

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/redpacket"
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
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	if !setsSessionAttrs(url) {
		config.ConnConfig.ValidateConnect = nil // a standby will do
	}
	conn, err := connectFirst(ctx, config.ConnConfig)
	if err != nil {
		return nil, tables.Unavailable("connect to HONGBAO_DATABASE_URL", err)
	}
	a := &Auditor{conn: conn}
	if err = errors.Join(prepareConn(ctx, conn, log), a.checkSchema(ctx)); err == nil {
		a.citus, err = isSplit(reader{ctx: ctx, conn: conn})
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// connectFirst connects for a program that starts. While Postgres may answer later, it tries again, for about
// startPatience.
func connectFirst(ctx context.Context, config *pgx.ConnConfig) (conn *pgx.Conn, err error) {
	for began := time.Now(); ; {
		conn, err = pgx.ConnectConfig(ctx, config)
		if !mayAnswerLater(err) || ctx.Err() != nil || time.Since(began) > startPatience {
			return conn, err
		}
		time.Sleep(longestPause) // a Postgres that is starting answers at once
	}
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
	closeConn(a.conn)
	return nil
}
