package schema

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/migrations"
	"hongbao/redpacket"
	"hongbao/store/audit"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// AuditTwice calls audit once, except on Citus if that finds differences. It then audits again, and leaves out the
// differences that the second audit does not find. Citus has no snapshot over all nodes: of a transaction that commits
// meanwhile, an audit may see only a part.
func AuditTwice(ctx context.Context, citus bool, q *redpacket.AuditQuery, audit func(q *redpacket.AuditQuery) (redpacket.Audit, error)) (redpacket.Audit, error) {
	first, err := audit(q)
	if err != nil || !citus || len(first.Differences) == 0 {
		return first, err
	}
	select {
	case <-time.After(commitOnAll):
	case <-ctx.Done():
		return redpacket.Audit{}, context.Cause(ctx)
	}
	if q != nil {
		again := *q
		again.Show = nil // the first audit has shown the packets
		q = &again
	}
	second, err := audit(q)
	first.Differences = slices.DeleteFunc(first.Differences, func(d redpacket.Difference) bool {
		return !slices.ContainsFunc(second.Differences, func(again redpacket.Difference) bool { return sameDifference(d, again) })
	})
	return first, err
}

// sameDifference reports whether two audits have found the same. In general the texts must be equal, with all numbers:
// a wallet or packet that is only in use seems to differ by other numbers each time. Of links only the ids are
// compared, because the text of such a difference names some of the rows in any order.
func sameDifference(a, b redpacket.Difference) bool {
	return a == b || a.Kind == "link" && b.Kind == "link" && a.ID == b.ID
}

// commitOnAll is the pause between the two audits of AuditTwice. A commit normally takes less time to become visible on all nodes.
const commitOnAll = 2 * time.Second

// The application names of sessions during an audit. By the first, migrationWatch finds the audits that it may end.
const (
	BackgroundAudit = "hongbao audit in the background"
	CommandAudit    = "hongbao audit"
)

// Audit audits the database in the snapshot of the reader, whose session gets the name of the application.
func Audit(r pg.Reader, application string, asked *redpacket.AuditQuery) (redpacket.Audit, error) {
	if err := pg.Simple(r.Ctx, r.Conn, "set local application_name = '"+application+"'"); err != nil {
		return redpacket.Audit{}, err
	}
	return audit.Run(Snapshot{r}, AuditDialect, asked)
}

// AuditDialect does not limit single amounts, because Postgres adds them up without overflow. It limits sums to what a
// bigint can hold.
var AuditDialect = audit.Dialect{
	Amount:  func(column string) string { return column },
	Bounded: func(sum string) string { return `least(` + sum + `, 9223372036854775807)::bigint` },
	Wallets: `select coalesce(w.user_id, t.user_id),
			format('its balance is %s, its transfers add up to %s', coalesce(w.balance, 0), coalesce(t.moved, 0))
		from wallets w full join (
			select user_id, sum(case when credit = 'user:' || user_id then amount else -amount end) as moved
			from transfers group by user_id) t on t.user_id = w.user_id
		where coalesce(w.balance, 0) <> coalesce(t.moved, 0)`,

	Shares: pg.Dialect{}.JSON(`shares`), Recipients: pg.Dialect{}.JSON(`recipients`), Winners: pg.Dialect{}.JSON(`winners`),
	Claims: `coalesce((select json_agg(json_build_array(c.share_no, c.user_id, c.amount, c.luckiest::int, c.at) order by c.share_no)
			from claims c where c.packet_id = p.id), '[]')::text`,
	Counts: `json_object_agg(emoji, n)::text`,
}

// Snapshot is a pg.Reader inside a snapshot. On Citus, it changes its queries with gathered.
type Snapshot struct{ pg.Reader }

// Each implements tables.Querier.
func (r Snapshot) Each(scan func(tables.Row) error, query string, args ...any) error {
	return r.Reader.Each(scan, r.gathered(query), args...)
}

// Row implements tables.Querier.
func (r Snapshot) Row(query string, args []any, into ...any) (bool, error) {
	return r.Reader.Row(r.gathered(query), args, into...)
}

func (r Snapshot) gathered(query string) string {
	if r.Citus {
		return gathered(query)
	}
	return query
}

// Open implements audit.Snapshot. A connection can read only one result at a time, so it declares a cursor.
func (r Snapshot) Open(name, query string) (audit.Cursor, error) {
	return auditCursor{r.Reader, name}, pg.Simple(r.Ctx, r.Conn, `declare audited_`+name+` no scroll cursor for `+r.gathered(query))
}

type auditCursor struct {
	pg.Reader
	name string
}

// Next implements audit.Cursor.
func (c auditCursor) Next(n int, scan func(tables.Row) error) (read int, err error) {
	err = c.Each(func(row tables.Row) error {
		read++
		return scan(row)
	}, fmt.Sprintf(`fetch %d from audited_%s`, n, c.name))
	return read, err
}

// Close implements audit.Cursor.
func (c auditCursor) Close() error { return pg.Simple(c.Ctx, c.Conn, `close audited_`+c.name) }

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
		a.citus, err = IsSplit(pg.Reader{Ctx: ctx, Conn: conn})
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// checkSchema returns nil if the database has exactly the migrations of this version.
func (a *Auditor) checkSchema(ctx context.Context) error {
	applied, err := Applied(pg.Reader{Ctx: ctx, Conn: a.conn})
	if err != nil {
		return err
	}
	return migrations.Check(migrations.Postgres(), applied)
}

// Audit checks all books in one read-only transaction; on Citus see AuditTwice. It does the same as Audit of
// redpacket.Ledger.
func (a *Auditor) Audit(ctx context.Context, q *redpacket.AuditQuery) (found redpacket.Audit, err error) {
	found, err = AuditTwice(ctx, a.citus, q, func(q *redpacket.AuditQuery) (found redpacket.Audit, err error) {
		err = pg.LongSnapshot(ctx, a.conn, a.citus, func(r pg.Reader) error {
			found, err = Audit(r, CommandAudit, q)
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
