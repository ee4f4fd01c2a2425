package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/store/tables"
)

// Snapshot reads one state of a database on one connection: no later commit is visible. (On Citus, a part of a later commit may be.)
type Snapshot interface {
	tables.Querier
	// Open starts a query. Several cursors may be open at the same time, each with a name of its own.
	Open(name, query string) (Cursor, error)
}

// Cursor reads the rows of a query step by step.
type Cursor interface {
	// Next calls scan with each of the next n rows, and returns how many there were.
	Next(n int, scan func(tables.Row) error) (int, error)
	Close() error
}

// Dialect has the parts of the statements that differ between the databases.
type Dialect struct {
	Amount  func(column string) string // the column, capped if the sum of many could overflow
	Bounded func(sum string) string    // the sum, capped if it may not fit into an int64
	Wallets string                     // the query for wallets whose balance is not the sum of their transfers

	Shares, Recipients string // of a packet p, as JSON
	Winners            string // of a wave, as JSON
	Claims             string // of a packet p, as a JSON list of [share, user, amount, 1 if it is the luckiest, time], by share
	Counts             string // an aggregate: emoji and n of each row, as a JSON object
}

// Run compares what is stored, and returns what differs. It reads row by row, so its memory does not grow with the tables. It returns
// at most maxDifferences differences, and a last one that says that there are more.
func Run(db Snapshot, d Dialect, asked *redpacket.AuditQuery) (redpacket.Audit, error) {
	if asked == nil {
		asked = &redpacket.AuditQuery{}
	}
	a := auditor{Snapshot: db, Dialect: d, asked: *asked, scope: whole}
	for _, part := range []func() error{a.narrow, a.sums, a.packets, a.draws, a.waves, a.checkPacketEntries, a.checks, a.overdue, a.quarantine, a.folds, a.chains} {
		if err := part(); err != nil {
			return redpacket.Audit{}, err
		}
	}
	return a.found, nil
}

const maxDifferences = 1000

// auditor runs the checks and collects the differences that they find.
type auditor struct {
	Snapshot
	Dialect
	found redpacket.Audit
	asked redpacket.AuditQuery
	scope *strings.Replacer

	quarantined map[[2]string]bool // packet and user
	round       *proof.Round       // of the rain whose waves are checked
	roundOf     string             // its packet
	nextWave    func() (*storedWave, error)
	ahead       *storedWave // the wave that nextWave has returned last
}

func (a *auditor) report(kind, id, format string, args ...any) {
	switch n := len(a.found.Differences); {
	case n < maxDifferences:
		a.found.Differences = append(a.found.Differences, redpacket.Difference{Kind: kind, ID: id, What: fmt.Sprintf(format, args...)})
	case n == maxDifferences:
		a.found.Differences = append(a.found.Differences, redpacket.Difference{Kind: "books", What: "there are more differences than these"})
	}
}

func sum(expression string) string { return `coalesce(sum(` + expression + `), 0)` }

// sums counts the rows. Funded is all credits less all debits. sums checks that this money is in wallets and open packets, and is
// counted in circulation. Its sums cannot overflow, so a forged amount becomes a difference and not an error.
func (a *auditor) sums() error {
	query := `select
		(select ` + a.Bounded(sum(`case when debit = 'outside' then 1 else -1 end * `+a.Amount(`amount`))) + ` from transfers where 'outside' in (debit, credit)),
		(select ` + a.Bounded(sum(a.Amount(`balance`))) + ` from wallets),
		(select ` + a.Bounded(sum(a.Amount(`p.total`)+` - (select `+sum(a.Amount(`amount`))+` from claims where packet_id = p.id)`)) + `
			from packets p where status = 'open'),
		(select count(*) from wallets), (select count(*) from packets), (select count(*) from packets where status = 'open'),
		(select count(*) from claims), (select count(*) from transfers), (select count(*) from rooms),
		(select count(*) from entries), (select count(*) from quarantine),
		coalesce((select amount from circulation), 0)`
	var circulating redpacket.Money
	b := &a.found
	if _, err := a.Row(query, nil, &b.Funded, &b.InWallets, &b.InPackets, &b.Wallets, &b.Packets, &b.OpenPackets,
		&b.Claims, &b.Transfers, &b.Rooms, &b.Entries, &b.Quarantined, &circulating); err != nil {
		return err
	}
	if b.Funded != b.InWallets+b.InPackets {
		a.report("books", "", "%d was funded, but %d is in wallets and %d in open packets", b.Funded, b.InWallets, b.InPackets)
	}
	if b.Funded != circulating {
		a.report("books", "", "%d was funded, but %d is counted in circulation", b.Funded, circulating)
	}
	return nil
}

// narrow sets the scope of an audit that begins where an earlier one has ended.
func (a *auditor) narrow() error {
	if len(a.asked.Since) == 0 {
		return nil
	}
	var next int64
	_, err := a.Row(oldest(a.asked.Since), nil, &next)
	a.scope = newer(next, slices.Concat(a.asked.Since, a.asked.Heads))
	return err
}

// check is a query that returns one row for each difference: the id of an object and a description.
type check struct {
	kind  string // of the object, as in redpacket.Difference
	query string // may have words in braces: see the comment of the package
}

func (a *auditor) checks() error {
	others := reverseChecks
	if a.scope != whole {
		others = a.countChecks()
	}
	for _, c := range slices.Concat([]check{{"wallet", a.Wallets}}, transferChecks, packetChecks, drawChecks, personChecks, earlyChecks, roomChecks, refChecks, chainChecks, others) {
		err := a.Each(func(row tables.Row) error {
			var id, what string
			if err := row.Scan(&id, &what); err != nil {
				return err
			}
			a.report(c.kind, id, "%s", what)
			return nil
		}, a.scope.Replace(c.query))
		if err != nil {
			return err
		}
	}
	return nil
}

// overdue reports packets that are still open redpacket.MaxOverdue after their deadline. Without a time Now in the query it does
// nothing.
func (a *auditor) overdue() error {
	if a.asked.Now.IsZero() {
		return nil
	}
	limit := a.asked.Now.Add(-redpacket.MaxOverdue).UnixMilli()
	return a.Each(func(row tables.Row) error {
		var (
			id      string
			expires time.Time
		)
		if err := row.Scan(&id, tables.Time(&expires)); err != nil {
			return err
		}
		a.report("packet", id, "it is open, and was to end at %s", expires.Format(time.RFC3339))
		return nil
	}, `select id, expires_at from packets where status = 'open' and expires_at < $1`, limit)
}

// quarantine adds a note for each claim in quarantine, for at most maxDifferences of them.
func (a *auditor) quarantine() error {
	return a.Each(func(row tables.Row) error {
		var (
			id, user, why string
			share         int64
			at            time.Time
		)
		if err := row.Scan(&id, &share, &user, &why, tables.Time(&at)); err != nil {
			return err
		}
		a.found.Notes = append(a.found.Notes, redpacket.QuarantineNote(id, share, user, why, at))
		return nil
	}, `select packet_id, share_no, user_id, why, at from quarantine order by id limit $1`, maxDifferences)
}
