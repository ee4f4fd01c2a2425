package pgstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// Audit implements redpacket.Ledger. It reads one snapshot row by row while the servers keep running, so its memory
// does not grow with the tables. After maxDifferences it reports no further differences.
func (s *Store) Audit(ctx context.Context, q *redpacket.AuditQuery) (a redpacket.Audit, err error) {
	if q == nil {
		q = &redpacket.AuditQuery{}
	}
	err = s.withLongSnapshot(ctx, func(r reader) error {
		a, err = audit(r, *q)
		return err
	})
	if err != nil {
		return redpacket.Audit{}, outcome("audit", err)
	}
	return a, nil
}

// audit runs many statements. All must see the same data, so q must read from one snapshot.
func audit(q querier, asked redpacket.AuditQuery) (redpacket.Audit, error) {
	a := auditor{querier: q, asked: asked}
	for _, part := range []func() error{a.sums, a.packets, a.checkPacketEntries, a.checks, a.overdue, a.reactions, a.chains} {
		if err := part(); err != nil {
			return redpacket.Audit{}, err
		}
	}
	return a.found, nil
}

const maxDifferences = 1000

// auditor runs the checks and collects the differences that they find.
type auditor struct {
	querier
	found redpacket.Audit
	asked redpacket.AuditQuery
}

func (a *auditor) report(kind, id, format string, args ...any) {
	switch n := len(a.found.Differences); {
	case n < maxDifferences:
		a.found.Differences = append(a.found.Differences, redpacket.Difference{Kind: kind, ID: id, What: fmt.Sprintf(format, args...)})
	case n == maxDifferences:
		a.found.Differences = append(a.found.Differences, redpacket.Difference{Kind: "books", What: "there are more differences than these"})
	}
}

// sumsQuery limits each sum to the largest readable value. Postgres computes the sums without overflow, so a forged
// amount is reported as a difference.
const sumsQuery = `select
	(select least(coalesce(sum(case when debit = 'outside' then amount else -amount end), 0), 9223372036854775807)::bigint
		from transfers where 'outside' in (debit, credit)),
	(select least(coalesce(sum(balance), 0), 9223372036854775807)::bigint from wallets),
	(select least(coalesce(sum(p.total - (select coalesce(sum(amount), 0) from claims where packet_id = p.id)), 0),
		9223372036854775807)::bigint from packets p where status = 'open'),
	(select count(*) from wallets), (select count(*) from packets), (select count(*) from packets where status = 'open'),
	(select count(*) from claims), (select count(*) from transfers), (select count(*) from rooms),
	(select count(*) from entries), (select count(*) from quarantine),
	coalesce((select amount from circulation), 0)`

func (a *auditor) sums() error {
	var circulating redpacket.Money
	b := &a.found
	_, err := a.row(sumsQuery, nil, &b.Funded, &b.InWallets, &b.InPackets, &b.Wallets, &b.Packets, &b.OpenPackets,
		&b.Claims, &b.Transfers, &b.Rooms, &b.Entries, &b.Quarantined, &circulating)
	if err != nil {
		return err
	}
	if b.Funded != b.InWallets+b.InPackets {
		a.report("books", "", "%d was funded, but %d is in wallets and %d in open packets", b.Funded, b.InWallets, b.InPackets)
	}
	if b.Funded != circulating {
		a.report("books", "", "%d was funded, but %d is counted in circulation; if an older version was running beside this one, run hongbao migrate", b.Funded, circulating)
	}
	return nil
}

// check is a query that returns one row for each difference: the id of an object and a description.
type check struct {
	kind  string // of the object, as in redpacket.Difference
	query string
}

func (a *auditor) checks() error {
	for _, c := range slices.Concat(transferChecks, packetChecks, roomChecks, chainChecks) {
		if err := a.check(c); err != nil {
			return err
		}
	}
	return nil
}

func (a *auditor) check(c check) error {
	return a.each(c.query, func(rs pgx.Rows) error {
		var id, what string
		if err := rs.Scan(&id, &what); err != nil {
			return err
		}
		a.report(c.kind, id, "%s", what)
		return nil
	})
}

// overdue reports packets that should have been closed long ago.
func (a *auditor) overdue() error {
	if a.asked.Now.IsZero() {
		return nil
	}
	limit := a.asked.Now.Add(-redpacket.MaxOverdue).UnixMilli()
	return a.each(`select id, expires_at from packets where status = 'open' and expires_at < $1`, func(rs pgx.Rows) error {
		var (
			id      string
			expires time.Time
		)
		if err := rs.Scan(&id, storedTime{&expires}); err != nil {
			return err
		}
		a.report("packet", id, "it is open, and was to end at %s", expires.Format(time.RFC3339))
		return nil
	}, limit)
}

// each streams the rows of a query.
func (a *auditor) each(query string, scan func(pgx.Rows) error, args ...any) error {
	rs, err := a.query(query, args...)
	if err != nil {
		return err
	}
	defer rs.Close()
	for rs.Next() {
		if err := scan(rs); err != nil {
			return err
		}
	}
	return rs.Err()
}
