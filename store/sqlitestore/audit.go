package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hongbao/redpacket"
	"hongbao/store/scope"
)

// Audit implements redpacket.Ledger. It reads one snapshot, while the server keeps running. It reads row by row, so its memory
// does not grow with the tables. After maxDifferences it reports no further differences.
func (s *Store) Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error) {
	return s.read.audit(ctx, q)
}

func (p *pool) audit(ctx context.Context, q *redpacket.AuditQuery) (a redpacket.Audit, err error) {
	if q == nil {
		q = &redpacket.AuditQuery{}
	}
	err = p.view(ctx, func(r reader) error {
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
	a := auditor{querier: q, asked: asked, scope: scope.Whole}
	for _, part := range []func() error{a.narrow, a.sums, a.packets, a.checks, a.overdue, a.quarantine, a.reactions, a.chains} {
		if err := part(); err != nil {
			return redpacket.Audit{}, err
		}
	}
	return a.found, nil
}

const maxDifferences = 1000

// auditor collects differences.
type auditor struct {
	querier
	found redpacket.Audit
	asked redpacket.AuditQuery
	scope *strings.Replacer // see package scope
}

func (a *auditor) report(kind, id, format string, args ...any) {
	switch n := len(a.found.Differences); {
	case n < maxDifferences:
		a.found.Differences = append(a.found.Differences, redpacket.Difference{Kind: kind, ID: id, What: fmt.Sprintf(format, args...)})
	case n == maxDifferences:
		a.found.Differences = append(a.found.Differences, redpacket.Difference{Kind: "books", What: "there are more differences than these"})
	}
}

// sumsQuery limits each amount, so that a forged one cannot make a sum overflow: it is reported as a difference. In
// an old database, a wallet may hold more than the largest amount, because circulation had no bound then.
const sumsQuery = `select
	(select coalesce(sum(iif(debit = 'outside', 1, -1) * min(amount, 9007199254740991)), 0)
		from transfers where 'outside' in (debit, credit)),
	(select coalesce(sum(min(balance, 72057594037927936)), 0) from wallets),
	(select coalesce(sum(min(p.total, 9007199254740991)
			- (select coalesce(sum(min(amount, 9007199254740991)), 0) from claims where packet_id = p.id)), 0)
		from packets p where status = 'open'),
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

// narrow sets the scope of an audit that begins where an earlier one has ended.
func (a *auditor) narrow() error {
	if len(a.asked.Since) == 0 {
		return nil
	}
	var oldest int64
	_, err := a.row(scope.Oldest(a.asked.Since), nil, &oldest)
	a.scope = scope.Newer(oldest, slices.Concat(a.asked.Since, a.asked.Heads))
	return err
}

// check is a query that returns one row for each difference: the id of an object and what is wrong with it.
type check struct {
	kind  string // of the object, as in redpacket.Difference
	query string // with words of package scope
}

func (a *auditor) checks() error {
	others := reverseChecks
	if a.scope != scope.Whole {
		others = countChecks
	}
	for _, c := range slices.Concat(transferChecks, packetChecks, roomChecks, refChecks, chainChecks, others) {
		if err := a.check(c); err != nil {
			return err
		}
	}
	return nil
}

func (a *auditor) check(c check) error {
	return a.each(a.scope.Replace(c.query), func(rs *sql.Rows) error {
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
	return a.each(`select id, expires_at from packets where status = 'open' and expires_at < ?`, func(rs *sql.Rows) error {
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

// quarantine notes the claims that can never be paid.
func (a *auditor) quarantine() error {
	return a.each(`select packet_id, share_no, user_id, why, at from quarantine order by id limit ?`, func(rs *sql.Rows) error {
		var (
			id, user, why string
			share         int64
			at            time.Time
		)
		if err := rs.Scan(&id, &share, &user, &why, storedTime{&at}); err != nil {
			return err
		}
		a.found.Notes = append(a.found.Notes, redpacket.QuarantineNote(id, share, user, why, at))
		return nil
	}, maxDifferences)
}

// each streams the rows of a query.
func (a *auditor) each(query string, look func(*sql.Rows) error, args ...any) (err error) {
	rs, err := a.query(query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rs.Close()) }()
	for rs.Next() {
		if err := look(rs); err != nil {
			return err
		}
	}
	return rs.Err()
}
