package redpacket

import (
	"context"
	"time"

	"hongbao/chat"
)

// simLedger is the part of the Ledger that the flow uses, after its contract: every method is one step but
// Image, which reads the status first and then the claims.
type simLedger struct {
	Ledger
	w    *simWorld
	rows []simRow
	room [simMaxPackets]simRow
}

// simRow is one packet in SQL.
type simRow struct {
	count    int
	deadline time.Duration
	shares   [simMaxShares]Money
	total    Money
	status   Status
	claims   []Grant
	refund   Money
	overpaid bool // at some committed state
}

func (l *simLedger) reset() {
	l.rows = l.room[:1]
	if l.w.chance(6) {
		l.rows = l.room[:2]
	}
	for i := range l.rows {
		row := &l.rows[i]
		*row = simRow{count: 2 + l.w.rng.IntN(simMaxShares-1), status: Open, claims: row.claims[:0]}
		row.deadline = time.Duration(1000+l.w.rng.IntN(14_000)) * time.Millisecond
		if l.w.chance(4) {
			row.deadline += 45 * time.Second // long after all faults
		}
		for s := range row.count {
			row.shares[s] = Money(1 + l.w.rng.IntN(100))
			row.total += row.shares[s]
		}
	}
}

func (r *simRow) shareOf(user string) int {
	for _, c := range r.claims {
		if c.User == user {
			return c.Share
		}
	}
	return -1
}

func (r *simRow) isFree(share int) bool {
	for _, c := range r.claims {
		if c.Share == share {
			return false
		}
	}
	return true
}

// paid is what the packet has given away, the refund included.
func (r *simRow) paid() Money {
	sum := r.refund
	for _, c := range r.claims {
		sum += r.shares[c.Share]
	}
	return sum
}

// commit ends a transaction: money must not have been made.
func (r *simRow) commit() { r.overpaid = r.overpaid || r.paid() > r.total }

// Settle implements Ledger.
func (l *simLedger) Settle(_ context.Context, claims []Claim) (settled []Settlement, err error) {
	if l.w.mutant&simStatusOutside != 0 {
		var before [simMaxPackets]Status
		err = l.w.call(simSQL, func() {
			for i := range l.rows {
				before[i] = l.rows[i].status
			}
		}, func() { settled = l.settle(claims, func(packet int) Status { return before[packet] }) })
		return settled, err
	}
	err = l.w.call(simSQL, func() {
		settled = l.settle(claims, func(packet int) Status { return l.rows[packet].status })
	})
	return settled, err
}

func (l *simLedger) settle(claims []Claim, status func(packet int) Status) []Settlement {
	settled := make([]Settlement, len(claims))
	for i, c := range claims {
		row := &l.rows[simIndex(c.ID)]
		s := Settlement{Share: c.Share, Amount: row.shares[c.Share]}
		had := row.shareOf(c.User)
		unguarded := l.w.mutant&simNoUniqueKeys != 0
		switch {
		case had >= 0 && !unguarded:
			s = Settlement{Verdict: Duplicate, Share: had, Amount: row.shares[had]}
		case !row.isFree(c.Share) && !unguarded:
			s.Verdict = Conflict
		case status(simIndex(c.ID)) != Open:
			s.Verdict, s.Status = TooLate, row.status
		default:
			s.Verdict = PaidNow
			row.claims = append(row.claims, Grant{User: c.User, Share: c.Share})
			row.commit()
		}
		if s.Verdict == Conflict {
			l.w.seen[simSawConflict]++
		}
		settled[i] = s
		if l.w.trace != nil {
			l.w.note("sql: settle %s %s share %d: %s", c.ID, c.User, c.Share, simVerdict(s.Verdict))
		}
	}
	return settled
}

// simVerdict is how a trace words it.
func simVerdict(v Verdict) string {
	return [...]string{PaidNow: "paid", Duplicate: "duplicate", Conflict: "conflict", TooLate: "too late"}[v]
}

// End implements Ledger.
func (l *simLedger) End(_ context.Context, c Close) (closed Closed, err error) {
	err = l.w.call(simSQL, func() {
		row := &l.rows[simIndex(c.ID)]
		if row.status == Open {
			l.end(row, c)
			closed.Done = true
		}
		closed.Book = row.book(c.Ref)
		if l.w.trace != nil {
			l.w.note("sql: end %s done=%t: %s %v refund %d", c.ID, closed.Done, row.status, row.claims, row.refund)
		}
	})
	return closed, err
}

func (r *simRow) book(ref Ref) Book {
	b := Book{Packet: Packet{Ref: ref, Count: r.count, ExpiresAt: simTime(r.deadline)}, Status: r.status, Refunded: r.refund}
	for _, g := range r.claims {
		b.Claims = append(b.Claims, Paid{Share: g.Share, User: chat.User{ID: g.User}, Amount: r.shares[g.Share]})
	}
	return b
}

func (l *simLedger) end(row *simRow, c Close) {
	for _, g := range c.Grants {
		if row.shareOf(g.User) < 0 && row.isFree(g.Share) {
			row.claims = append(row.claims, g)
		}
	}
	row.refund = max(0, row.total-row.paid())
	switch {
	case len(row.claims) >= row.count:
		row.status = Drained
	case c.Reason == Drained: // the Pool had believed so
		row.status = Expired
	default:
		row.status = c.Reason
	}
	if row.status == Expired && l.w.clock < row.deadline {
		l.w.count[simEarly]++
	}
	row.commit()
}

// Quarantine implements Ledger. No schedule has a claim that belongs there.
func (l *simLedger) Quarantine(context.Context, []Claim, string) error {
	panic("a claim of an unknown packet or share")
}

// Image implements Ledger.
func (l *simLedger) Image(_ context.Context, packet string) (i Image, err error) {
	row := &l.rows[simIndex(packet)]
	i = Image{Ref: simRef(simIndex(packet)), Count: row.count, Deadline: simTime(row.deadline)}
	err = l.w.call(simSQL,
		func() { i.Status = row.status },
		func() {
			i.Grants = append(i.Grants, row.claims...)
			if l.w.trace != nil {
				l.w.note("sql: image %s %s %v", packet, i.Status, i.Grants)
			}
		})
	return i, err
}

// Overdue implements Ledger.
func (l *simLedger) Overdue(_ context.Context, before time.Time, _ int) (overdue []Overdue, err error) {
	err = l.w.call(simSQL, func() {
		for i := range l.rows {
			if row := &l.rows[i]; row.status == Open && simTime(row.deadline).Before(before) {
				overdue = append(overdue, Overdue{Ref: simRef(i), ExpiresAt: simTime(row.deadline)})
			}
		}
	})
	return overdue, err
}
