package redpacket

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hongbao/chat"
)

// simLedger is the part of the Ledger that the flow uses, written from the Ledger's contract. Every method is one step
// of the simulation, except Image: it reads the status in one step and the claims in the next.
type simLedger struct {
	Ledger
	w       *simWorld
	rows    []simRow
	room    [simMaxPackets]simRow
	deleted bool // the room, which all packets share, is deleted
}

// ref names a packet. A rain has no partition.
func (l *simLedger) ref(packet int) Ref {
	if l.rows[packet].isRain() {
		return l.rows[packet].rain.packet.Ref
	}
	return simRef(packet)
}

const simRoom = "room"

// simRow is one packet in SQL, with its claims.
type simRow struct {
	count    int
	opens    time.Duration // 0: at once
	deadline time.Duration
	shares   [simMaxShares]Money
	total    Money
	status   Status
	claims   []Grant
	refund   Money
	overpaid bool // after some commit, the packet had paid more than its total
	refused  bool // SQL has refused a claim for good
	poison   [simMaxUsers]simPoison
	hold     Hold
	persons  simBinding
	rain     simRain
}

// simPoison makes SQL fail when it inserts the claim of one user.
type simPoison struct {
	was, forGood bool
	fails        int // errors left that do not name the row; then SQL accepts the row, or refuses it if forGood
}

// strike decides about a row that is to be inserted: it is accepted, refused for good, or fails with an error.
func (p *simPoison) strike() (refused bool, err error) {
	if p.fails > 0 {
		p.fails--
		return false, errSim
	}
	return p.forGood, nil
}

func (l *simLedger) reset() {
	l.rows, l.deleted = l.room[:1], false
	if l.w.class.rains || l.w.chance(6) {
		l.rows = l.room[:2]
	}
	for i := range l.rows {
		row := &l.rows[i]
		*row = simRow{count: 2 + l.w.rng.IntN(simMaxShares-1), status: Open, claims: row.claims[:0]}
		row.deadline = time.Duration(1000+l.w.rng.IntN(14_000)) * time.Millisecond
		if l.w.chance(4) {
			row.deadline += 45 * time.Second // far behind the last fault
		}
		if l.w.chance(4) {
			row.opens = time.Duration(1+l.w.rng.IntN(900)) * time.Millisecond
		}
		if i == 1 && l.w.class.rains {
			row.makeRain(l, i)
		}
		row.persons.on = l.w.class.persons && l.w.chance(2)
		if l.w.class.poison {
			for user := range row.poison {
				if l.w.chance(4) {
					row.poison[user] = simPoison{was: true, forGood: l.w.chance(2), fails: 1 + l.w.rng.IntN(4)}
				}
			}
		}
		for s := range row.count {
			row.shares[s] = Money(1 + l.w.rng.IntN(100))
			row.total += row.shares[s]
		}
		if !row.isRain() {
			l.planHold(row)
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

// shareIn returns the share that the user has, of a rain in this wave, or -1.
func (r *simRow) shareIn(user string, wave int) int {
	for _, c := range r.claims {
		if c.User == user && c.Wave == wave {
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

// paid returns what the packet has paid in all, including the refund.
func (r *simRow) paid() Money {
	sum := r.refund
	for _, c := range r.claims {
		sum += r.shares[c.Share]
	}
	return sum
}

// commit ends a transaction and records whether the packet has paid more than its total.
func (r *simRow) commit() { r.overpaid = r.overpaid || r.paid() > r.total }

// Settle implements Ledger.
func (l *simLedger) Settle(_ context.Context, claims []Claim) (settled []Settlement) {
	var err error
	if l.w.mutant&simStatusOutside != 0 {
		var before [simMaxPackets]Status
		err = l.w.call(simSQL, func() {
			for i := range l.rows {
				before[i] = l.rows[i].status
			}
		}, func() { settled = l.settle(claims, func(packet int) Status { return before[packet] }) })
		return simSettled(claims, settled, err)
	}
	err = l.w.call(simSQL, func() {
		settled = l.settle(claims, func(packet int) Status { return l.rows[packet].status })
	})
	return simSettled(claims, settled, err)
}

// simSettled returns the settlements that the caller of Settle sees: the given ones or, if the call failed, Unsettled
// ones.
func simSettled(claims []Claim, settled []Settlement, err error) []Settlement {
	if err != nil {
		return AllUnsettled(len(claims), err)
	}
	return settled
}

func (l *simLedger) settle(claims []Claim, status func(packet int) Status) []Settlement {
	settled := make([]Settlement, len(claims))
	for i, c := range claims {
		row := &l.rows[simIndex(c.ID)]
		s := Settlement{Share: c.Share, Amount: row.shares[c.Share]}
		had := row.shareIn(c.User, c.Wave)
		unguarded := l.w.mutant&simNoUniqueKeys != 0
		switch {
		case had >= 0 && !unguarded:
			s = Settlement{Verdict: Duplicate, Share: had, Amount: row.shares[had]}
		case !row.isFree(c.Share) && !unguarded:
			s.Verdict = Conflict
		case status(simIndex(c.ID)) != Open:
			s.Verdict, s.Status = TooLate, row.status
		case !row.binds(c.User) && l.w.mutant&simPaysUnbound == 0:
			l.w.seen[simSawUnbound]++
			s = NotBound()
		default:
			s = l.pay(row, c, s)
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

// pay inserts the claim, unless the user's poison makes SQL refuse it or fail.
func (l *simLedger) pay(row *simRow, c Claim, s Settlement) Settlement {
	switch refused, err := row.poison[simIndex(c.User)].strike(); {
	case err != nil:
		l.w.seen[simSawUnsettled]++
		return Settlement{Err: err}
	case refused:
		row.refused = true
		return Settlement{Verdict: Unpayable, Why: "poison"}
	}
	s.Verdict = PaidNow
	row.claims = append(row.claims, Grant{User: c.User, Share: c.Share, Wave: c.Wave})
	row.commit()
	return s
}

// simVerdict returns the name of a verdict, for the trace.
func simVerdict(v Verdict) string {
	return [...]string{Unsettled: "unsettled", PaidNow: "paid", Duplicate: "duplicate", Conflict: "conflict", TooLate: "too late", Unbound: "unbound", Unpayable: "unpayable"}[v]
}

// End implements Ledger.
func (l *simLedger) End(_ context.Context, c Close) (closed Closed, err error) {
	var failed error
	err = l.w.call(simSQL, func() {
		row := &l.rows[simIndex(c.ID)]
		if row.status == Open {
			if failed = l.end(row, c); failed != nil {
				return
			}
			closed.Done = true
		}
		closed.Book = row.book(c.Ref)
		if l.w.trace != nil {
			l.w.note("sql: end %s done=%t: %s %v refund %d", c.ID, closed.Done, row.status, row.claims, row.refund)
		}
	})
	return closed, cmp.Or(err, failed)
}

func (r *simRow) book(ref Ref) Book {
	b := Book{Packet: Packet{Ref: ref, Count: r.count, OpensAt: simTime(r.opens), ExpiresAt: simTime(r.deadline)}, Status: r.status, Refunded: r.refund, Shares: r.shares[:r.count]}
	if r.isRain() {
		b.Packet = r.rain.packet
	}
	for _, g := range r.claims {
		b.Claims = append(b.Claims, Paid{Share: g.Share, User: chat.User{ID: g.User}, Amount: r.shares[g.Share]})
	}
	return b
}

func (l *simLedger) end(row *simRow, c Close) error {
	before := len(row.claims)
	for _, g := range c.Grants {
		if row.shareIn(g.User, g.Wave) >= 0 || !row.isFree(g.Share) || !row.binds(g.User) && l.w.mutant&simPaysUnbound == 0 {
			continue
		}
		refused, err := row.poison[simIndex(g.User)].strike()
		if err != nil {
			row.claims = row.claims[:before]
			return err
		}
		if !refused {
			row.claims = append(row.claims, g)
		}
	}
	row.refund = max(0, row.total-row.paid())
	switch {
	case len(row.claims) >= row.count:
		row.status = Drained
	case c.Reason == Drained: // the Pool believed that all shares were taken, and SQL has fewer claims
		row.status = Expired
	default:
		row.status = c.Reason
	}
	// If SQL refused claims for good, all shares were granted but not all were paid: such an end is not early.
	switch early := row.status == Expired && l.w.clock < row.deadline && !row.refused && !row.rain.ended; {
	case early && l.deleted:
		l.w.seen[simSawDeleted]++
	case early:
		l.w.count[simEarly]++
	}
	row.commit()
	return nil
}

// OutOfReach implements Ledger. During an outage it returns an error at random: an instance may notice an outage late.
func (l *simLedger) OutOfReach() error {
	if l.w.cut(l.w.running, simSQL) && l.w.chance(2) {
		return errSim
	}
	return nil
}

// Quarantine implements Ledger. It panics if the flow quarantines a claim that could still be paid.
func (l *simLedger) Quarantine(_ context.Context, claims []Claim, _ string) error {
	return l.w.call(simSQL, func() {
		for _, c := range claims {
			row := &l.rows[simIndex(c.ID)]
			if p := row.poison[simIndex(c.User)]; (!p.forGood || p.fails > 0) && !row.persons.on {
				panic("a claim that could be paid")
			}
			l.w.seen[simSawQuarantined]++
		}
	})
}

// Image implements Ledger.
func (l *simLedger) Image(_ context.Context, packet string) (i Image, err error) {
	row := &l.rows[simIndex(packet)]
	i = Image{Ref: l.ref(simIndex(packet)), Count: row.count, OpensAt: simTime(row.opens), Deadline: simTime(row.deadline), Hold: row.hold}
	if l.w.mutant&simHoldLost != 0 {
		i.Hold = Hold{}
	}
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
func (l *simLedger) Overdue(_ context.Context, before time.Time, _ Overdue, _ int) (overdue []Overdue, err error) {
	err = l.w.call(simSQL, func() {
		for i := range l.rows {
			if row := &l.rows[i]; row.status == Open && simTime(row.deadline).Before(before) {
				overdue = append(overdue, Overdue{Ref: l.ref(i), ExpiresAt: simTime(row.deadline)})
			}
		}
	})
	return overdue, err
}

// deleteRoom does in one step what deleting a room does to packets in chat.Store.
func (l *simLedger) deleteRoom() error {
	return l.w.call(simSQL, func() {
		l.deleted = true
		if l.w.trace != nil {
			l.w.note("sql: the room is deleted")
		}
	})
}

// DeletedRooms implements Ledger.
func (l *simLedger) DeletedRooms(context.Context, string, int) (rooms []string, next string, err error) {
	err = l.w.call(simSQL, func() {
		if l.deleted && slices.ContainsFunc(l.rows, func(r simRow) bool { return r.status == Open }) {
			rooms = append(rooms, simRoom)
		}
	})
	return rooms, "", err
}

// OpenFromBefore implements Ledger. The simulated database never begins another epoch.
func (l *simLedger) OpenFromBefore(context.Context, string, int) ([]Ref, error) { return nil, nil }

// OpenInDeleted implements Ledger.
func (l *simLedger) OpenInDeleted(context.Context, string, string, int) (open []Ref, err error) {
	err = l.w.call(simSQL, func() {
		for i := range l.rows {
			if l.deleted && l.rows[i].status == Open {
				open = append(open, l.ref(i))
			}
		}
	})
	return open, err
}
