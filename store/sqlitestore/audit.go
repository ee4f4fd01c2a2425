package sqlitestore

import (
	"context"
	"database/sql"

	"hongbao/redpacket"
	"hongbao/store/audit"
	"hongbao/store/tables"
)

// Audit implements redpacket.Ledger. It reads one snapshot, while the server keeps running.
func (s *Store) Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error) {
	return s.read.audit(ctx, q)
}

func (p *pool) audit(ctx context.Context, q *redpacket.AuditQuery) (a redpacket.Audit, err error) {
	err = p.view(ctx, nil, func(r reader) error {
		a, err = audit.Run(snapshot{r}, auditDialect, q)
		return err
	})
	return a, tables.Outcome("audit", err)
}

// auditDialect limits each amount, so that a forged one cannot make a sum overflow. In an old database, a wallet may hold more than the
// largest amount, because circulation had no bound then.
var auditDialect = audit.Dialect{
	Amount:  func(column string) string { return `min(` + column + `, 9007199254740991)` },
	Bounded: func(sum string) string { return sum },
	Balance: `min(balance, 72057594037927936)`,
	// This union takes the place of a full join, which would compare each wallet with each sum.
	Wallets: `select user_id, format('its balance is %d, its transfers add up to %d', sum(balance), sum(moved))
		from (select user_id, balance, 0 as moved from wallets union all
			select user_id, 0, iif(credit = 'user:' || user_id, 1, -1) * min(amount, 9007199254740991) from transfers)
		group by user_id having sum(balance) <> sum(moved)`,

	Shares: `shares`, Recipients: `recipients`,
	Claims: `(select json_group_array(json_array(c.share_no, c.user_id, c.amount, c.luckiest) order by c.share_no)
			from claims c where c.packet_id = p.id)`,
	Counts: `json_group_object(emoji, n)`,
}

// snapshot is a reader inside a transaction.
type snapshot struct{ reader }

// Open implements audit.Snapshot.
func (s snapshot) Open(_, query string) (audit.Cursor, error) {
	rs, err := s.query(query) //nolint:rowserrcheck // auditCursor.Next checks it
	return auditCursor{rs}, err
}

type auditCursor struct{ *sql.Rows }

// Next implements audit.Cursor.
func (c auditCursor) Next(n int, scan func(tables.Row) error) (read int, err error) {
	for ; read < n && c.Rows.Next(); read++ {
		if err := scan(c.Rows); err != nil {
			return read, err
		}
	}
	return read, c.Err()
}
