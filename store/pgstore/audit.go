package pgstore

import (
	"context"
	"fmt"

	"hongbao/redpacket"
	"hongbao/store/audit"
	"hongbao/store/tables"
)

// Audit implements redpacket.Ledger. It reads one snapshot, while the servers keep running.
func (s *Store) Audit(ctx context.Context, q *redpacket.AuditQuery) (a redpacket.Audit, err error) {
	err = s.withLongSnapshot(ctx, func(r reader) error {
		a, err = auditAs(r, backgroundAudit, q)
		return err
	})
	return a, tables.Outcome("audit", err)
}

// The application names of sessions during an audit. By the first, migrationWatch finds the audits that it may end.
const (
	backgroundAudit = "hongbao audit in the background"
	commandAudit    = "hongbao audit"
)

func auditAs(r reader, application string, asked *redpacket.AuditQuery) (redpacket.Audit, error) {
	if err := simple(r.ctx, r.conn, "set local application_name = '"+application+"'"); err != nil {
		return redpacket.Audit{}, err
	}
	return audit.Run(snapshotReader{r}, auditDialect, asked)
}

// The columns shares and recipients of a packet, as JSON.
const (
	sharesJSON     = `array_to_json(shares)::text`
	recipientsJSON = `array_to_json(recipients)::text`
)

// auditDialect limits each sum to the largest readable value. Postgres computes sums without overflow.
var auditDialect = audit.Dialect{
	Amount: func(column string) string { return column },
	Sum: func(expression string) string {
		return `least(coalesce(sum(` + expression + `), 0), 9223372036854775807)::bigint`
	},
	Balance: `balance`,
	Wallets: `select coalesce(w.user_id, t.user_id),
			format('its balance is %s, its movements make %s', coalesce(w.balance, 0), coalesce(t.moved, 0))
		from wallets w full join (
			select user_id, sum(case when credit = 'user:' || user_id then amount else -amount end) as moved
			from transfers group by user_id) t on t.user_id = w.user_id
		where coalesce(w.balance, 0) <> coalesce(t.moved, 0)`,

	Shares: sharesJSON, Recipients: recipientsJSON,
	Claims: `coalesce((select json_agg(json_build_array(c.share_no, c.user_id, c.amount, c.luckiest::int) order by c.share_no)
			from claims c where c.packet_id = p.id), '[]')::text`,
	Counts: `json_object_agg(emoji, n)::text`,
}

// snapshotReader is a reader inside a transaction.
type snapshotReader struct{ reader }

// Open implements audit.Snapshot. A connection can read only one result at a time, so it declares a cursor.
func (r snapshotReader) Open(name, query string) (audit.Cursor, error) {
	return auditCursor{r.reader, name}, simple(r.ctx, r.conn, `declare audited_`+name+` no scroll cursor for `+query)
}

type auditCursor struct {
	reader
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
func (c auditCursor) Close() error { return simple(c.ctx, c.conn, `close audited_`+c.name) }
