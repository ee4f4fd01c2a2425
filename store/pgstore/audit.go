package pgstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/scope"
)

// Audit implements redpacket.Ledger. It reads one snapshot, while the servers keep running. It reads row by row, so its
// memory does not grow with the tables. After maxDifferences it reports no further differences.
func (s *Store) Audit(ctx context.Context, q *redpacket.AuditQuery) (a redpacket.Audit, err error) {
	if q == nil {
		q = &redpacket.AuditQuery{}
	}
	err = s.withLongSnapshot(ctx, func(r reader) error {
		a, err = auditAs(r, backgroundAudit, *q)
		return err
	})
	if err != nil {
		return redpacket.Audit{}, outcome("audit", err)
	}
	return a, nil
}

// The application names of sessions during an audit. By the first, migrationWatch finds the audits that it may end.
const (
	backgroundAudit = "hongbao audit in the background"
	commandAudit    = "hongbao audit"
)

func auditAs(r reader, application string, asked redpacket.AuditQuery) (redpacket.Audit, error) {
	if err := simple(r.ctx, r.conn, "set local application_name = '"+application+"'"); err != nil {
		return redpacket.Audit{}, err
	}
	return audit(r, asked)
}

// audit runs many statements. All must see the same data, so q must read from one snapshot.
func audit(q querier, asked redpacket.AuditQuery) (redpacket.Audit, error) {
	a := auditor{querier: q, asked: asked, scope: scope.Whole}
	for _, part := range []func() error{a.narrow, a.sums, a.packets, a.checkPacketEntries, a.checks, a.overdue, a.quarantine, a.reactions, a.chains} {
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

// check is a query that returns one row for each difference: the id of an object and a description.
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
	return a.each(a.scope.Replace(c.query), func(rs pgx.Rows) error {
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

// quarantine notes the claims that can never be paid.
func (a *auditor) quarantine() error {
	return a.each(`select packet_id, share_no, user_id, why, at from quarantine order by id limit $1`, func(rs pgx.Rows) error {
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
