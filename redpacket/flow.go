package redpacket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/crashpoint"
	"hongbao/redpacket/trace"
)

// flow is the protocol of a packet's life as plain sequential code: no timer, no cache, and no goroutine except those of
// parallel. A crash may happen between any two calls of an engine. A later grab, sweep, recovery or backstop completes the
// work that a crash has interrupted.
type flow struct {
	pool     Pool
	ledger   Ledger
	now      func() time.Time
	newID    func(time.Time) string
	observer observer

	ack      func(context.Context, []Claim)               // Pool.Ack, at once or soon; what fails stays in the outbox
	image    func(context.Context, string) (Image, error) // Ledger.Image, perhaps read for several callers at once
	parallel func(tasks []func())                         // runs tasks concurrently and waits for all; nil: one after the other
	full     [Partitions]atomic.Bool                      // partitions that have answered Busy since the last recount; the next recount includes them
	counted  int                                          // the last partition whose turn it was in recount

	settledAtClose atomic.Int64 // claims that SQL lacked at the close of their packet, and that settleLacking has paid
}

// observer is told the results of engine calls.
type observer interface {
	paid(ctx context.Context, c Claim, s Settlement) // this call of Settle has paid the claim
	unsettled(c Claim)                               // the claim of a grab, not of recovery or a close, could not be settled
	endFailed(packet string, err error)              // Ledger.End has failed
	waves(d *Draw, paid bool)                        // the waves have been drawn, the last d.New of them now; paid: all their winners are paid
	closed(c Closed)                                 // the packet has ended; c.Done is false if another call has ended it
	quarantined(c Claim, why string)
}

// poolError marks an error of the Pool during a close, for callers that must know which of the two engines has failed.
type poolError struct{ error }

func (e poolError) Unwrap() error { return e.error }

const (
	maxCopies   = 2               // how often one call may copy a packet into the Pool before it fails
	settleBatch = 500             // most claims in one call of Settle
	dueSoon     = 5 * time.Second // the backstop loads packets whose deadline is at most this far away
	overdueBy   = 3 * time.Second // the backstop closes packets whose deadline has passed by more: the sweep must have missed them
	pageOfWork  = 200             // packets in one page of the sweep, or of a list of packets to close early
	overduePage = 1000            // packets that the backstop reads at a time
	copyBudget  = time.Second     // time that failing copies of one partition may take in one pass of the backstop
)

// grabbed is the outcome of a grab inside the package. Callers of the package get a Result, which is made from it.
type grabbed struct {
	outcome Outcome
	other   string     // set for elsewhere
	paid    Settlement // set for won and already
	taken   int        // shares of the packet that are taken, as the Pool knows it
	waiting int        // of empty: shares that are held for other users
	last    bool       // the Pool has granted the last free share, so the caller must close the packet
	ended   bool       // the packet is closed, or is being closed
}

// grab takes a share for one user and settles it. It returns the error deny if the Pool refuses the user because of a.May.
// An error that wraps chat.ErrUnavailable means that nothing was done, or that the outcome is unknown: the caller may
// always grab again.
func (f *flow) grab(ctx context.Context, a Attempt, deny error) (grabbed, error) {
	regranted := false
	for copies := 0; ; {
		// While the ledger is out of reach, nothing is granted: the grants would only fill the outbox.
		if err := f.ledger.OutOfReach(); err != nil {
			return grabbed{}, err
		}
		ans, err := f.grabFromPool(ctx, a)
		if err != nil {
			return grabbed{}, err
		}
		v := grabbed{taken: ans.Taken}
		switch ans.Decision {
		case Missing:
			if copies++; copies > maxCopies {
				return v, fmt.Errorf("grab %s: the pool keeps losing it: %w", a.ID, chat.ErrUnavailable)
			}
			if err := f.copyIntoPool(ctx, a.ID); err != nil {
				return v, err
			}
			continue
		case Outsider, IsDenied:
			return v, deny
		case Busy:
			f.full[uint(a.Partition)%Partitions].Store(true)
			return v, fmt.Errorf("grab %s: too many unsettled claims: %w", a.ID, chat.ErrUnavailable)
		case IsClosed:
			v.outcome, v.ended = finishedOutcome(ans.Reason), true
			return v, nil
		case NotYet:
			return v, ErrNotYet
		case IsLate:
			v.outcome = OutcomeExpired
			return v, nil
		case IsEmpty, AllHeld:
			v.outcome, v.waiting = OutcomeEmpty, ans.Waiting
			return v, nil
		}

		c := Claim{Ref: a.Ref, Share: ans.Share, User: a.User, Entry: ans.Entry, At: f.now(), Taken: ans.Taken}
		s, err := f.settleOne(ctx, c)
		if err != nil {
			return v, err
		}
		switch s.Verdict {
		case PaidNow, Duplicate:
			v.outcome, v.paid, v.last = OutcomeAlready, s, ans.Last
			if ans.Decision == Granted && s.Share == ans.Share {
				v.outcome = OutcomeWon
			}
			return v, nil
		case TooLate:
			v.outcome, v.ended = finishedOutcome(s.Status), true
			return v, nil
		case Conflict: // the Pool had granted a share of another user; ackSettled has tried to copy the packet, so grab another share
			if regranted {
				return v, fmt.Errorf("grab %s: share taken twice over: %w", a.ID, chat.ErrUnavailable)
			}
			regranted = true
		case Unbound:
			return v, errUnbound
		default:
			return v, fmt.Errorf("grab %s: share %d cannot be paid: %s: %w", a.ID, c.Share, s.Why, chat.ErrUnavailable)
		}
	}
}

func (f *flow) grabFromPool(ctx context.Context, a Attempt) (Answer, error) {
	ctx, span := trace.Start(ctx, "pool.grab")
	span.Text("hongbao.packet", a.ID)
	answers, err := f.pool.Grab(ctx, []Attempt{a})
	span.End(err)
	if err != nil {
		return Answer{}, err
	}
	crashpoint.Here("grab.after-pool")
	if answers[0].Decision == Granted && crashpoint.Lost("grab.after-pool") {
		return Answer{}, fmt.Errorf("lost on purpose: %w", chat.ErrUnavailable)
	}
	return answers[0], nil
}

// settleOne settles the claim of one grab, and then does what must follow (ackSettled).
func (f *flow) settleOne(ctx context.Context, c Claim) (Settlement, error) {
	claims := []Claim{c}
	settling, span := trace.Start(ctx, "ledger.settle")
	settled := f.ledger.Settle(settling, claims)
	err := UnsettledErr(settled)
	span.End(err)
	if err != nil {
		f.observer.unsettled(c)
		return Settlement{}, err
	}
	crashpoint.Here("grab.after-settle")
	_, _ = f.ackSettled(ctx, claims, settled)
	crashpoint.Here("grab.after-ack")
	return settled[0], nil
}

// UnsettledErr returns the error of the first settlement in the list that is Unsettled, or nil.
func UnsettledErr(settled []Settlement) error {
	for i := range settled {
		if s := &settled[i]; s.Verdict == Unsettled {
			return cmp.Or(s.Err, chat.ErrUnavailable)
		}
	}
	return nil
}

// ackSettled does what must follow a call of Settle. It tells the observer which claims were paid. It acks each claim with an
// Entry that got a final verdict, paid or refused; the ack may come later (acks). It puts claims that can never be
// paid into quarantine and acks them, too. If the Pool was wrong about a packet, it copies what SQL knows into the Pool (copyIntoPool). It
// returns the claims that are not settled, or could not be put into quarantine, with the first reason. These stay in the
// outbox, and so does a claim whose ack fails: recovery settles it again. ackSettled overwrites the slice claims.
func (f *flow) ackSettled(ctx context.Context, claims []Claim, settled []Settlement) (left []Claim, err error) {
	ack := claims[:0]
	var wrong []string
	var unpayable map[string][]Claim // the claims that can never be paid, by reason
	for i, s := range settled {
		c := claims[i]
		switch s.Verdict {
		case Unsettled:
			left, err = append(left, c), cmp.Or(err, s.Err)
			continue
		case PaidNow:
			f.observer.paid(ctx, c, s)
		case Duplicate:
			if s.Share != c.Share {
				wrong = append(wrong, c.ID)
			}
		case Conflict, TooLate:
			wrong = append(wrong, c.ID)
		case Unpayable:
			if unpayable == nil {
				unpayable = map[string][]Claim{}
			}
			unpayable[s.Why] = append(unpayable[s.Why], c)
			continue
		}
		if c.Entry != "" {
			ack = append(ack, c)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(unpayable)) {
		group := unpayable[why]
		if failed := f.ledger.Quarantine(ctx, group, why); failed != nil {
			left, err = append(left, group...), cmp.Or(err, failed)
			continue
		}
		for _, c := range group {
			f.observer.quarantined(c, why)
			if c.Entry != "" {
				ack = append(ack, c)
			}
		}
	}
	if len(ack) > 0 {
		f.ack(ctx, ack)
	}
	slices.Sort(wrong)
	for _, id := range slices.Compact(wrong) {
		_ = f.copyIntoPool(ctx, id)
	}
	return left, err
}

// copyIntoPool copies what SQL knows of a packet into the Pool. It takes no lock and writes nothing to SQL. Claims in SQL are
// only added, and the order of two Loads makes no difference. So an old copy does no harm.
func (f *flow) copyIntoPool(ctx context.Context, packet string) error {
	image, err := f.image(ctx, packet)
	if err != nil {
		return err
	}
	return f.load(ctx, image)
}

// errNotDue means that the packet must not be closed: in the Pool it has free shares and its deadline has not come.
var errNotDue = errors.New("not due")

// close ends a packet, for the given reason. It returns ErrPacketFinished if a cancel came too late. It returns
// errNotDue if the packet is not due yet.
func (f *flow) close(ctx context.Context, p Ref, why CloseReason) (Closed, error) {
	closing, err := f.stopGrants(ctx, p, why)
	if err != nil {
		return Closed{}, err
	}
	crashpoint.Here("close.after-script")
	grants, err := f.settleLacking(ctx, p, closing.Grants)
	switch {
	case errors.Is(err, chat.ErrNotFound):
		return Closed{}, errors.Join(err, f.retireLost(ctx, p, closing))
	case err != nil:
		return Closed{}, err
	}
	crashpoint.Here("close.after-settle")
	now := f.now()
	closed, err := f.ledger.End(ctx, Close{
		Ref: p, Reason: closing.Reason, Grants: grants, At: now, EntryID: f.newID(now),
	})
	if err != nil {
		f.observer.endFailed(p.ID, err)
		return Closed{}, err
	}
	// The Pool gets the final state as SQL has it. Otherwise winners whose grant the Pool has lost would get "expired"
	// for an hour. Loading a closed packet retires it. If loading fails, the packet comes due again, and the next
	// close finds it ended in SQL.
	_ = f.load(ctx, closed.Book.image())
	crashpoint.Here("close.after-load")
	f.observer.closed(closed)
	return closed, nil
}

// retireLost retires the Pool's image of a packet that SQL has lost, because a standby lagged behind or a backup was
// older. The sender's wallet then holds the money again, so the grants can never be paid: they go into quarantine. While
// SQL lacks the packet no close can succeed, so the packet must not come due again. If SQL gets it back, the backstop
// closes it.
func (f *flow) retireLost(ctx context.Context, p Ref, closing Closing) error {
	var claims []Claim
	for _, g := range closing.Grants {
		claims = append(claims, Claim{Ref: p, Share: g.Share, User: g.User, At: f.now()})
	}
	if len(claims) > 0 {
		const why = "the database has lost the packet; its sender has the money again"
		if err := f.ledger.Quarantine(ctx, claims, why); err != nil {
			return err
		}
		for _, c := range claims {
			f.observer.quarantined(c, why)
		}
	}
	return f.load(ctx, Image{Ref: p, Status: closing.Reason})
}

// load loads an image into the Pool, unless it is that of a draw.
func (f *flow) load(ctx context.Context, i Image) error {
	if i.IsDraw() {
		return nil
	}
	if err := f.pool.Load(ctx, i); err != nil {
		return poolError{err}
	}
	return nil
}

// stopGrants stops the grants of a packet and returns all that there are: those of the Pool, or those that the draw gives.
func (f *flow) stopGrants(ctx context.Context, p Ref, why CloseReason) (Closing, error) {
	if p.IsDraw() {
		return f.draw(ctx, p, why)
	}
	return f.closeScript(ctx, p, why)
}

func (f *flow) closeScript(ctx context.Context, p Ref, why CloseReason) (Closing, error) {
	for copies := 0; ; copies++ {
		closing, err := f.pool.Close(ctx, p, why)
		switch {
		case err != nil:
			return Closing{}, poolError{err}
		case closing.Refused && why == CloseCancel:
			return Closing{}, ErrPacketFinished
		case closing.Refused:
			return Closing{}, errNotDue
		case !closing.Missing:
			return closing, nil
		case copies == maxCopies:
			return Closing{}, poolError{fmt.Errorf("close %s: the pool keeps losing it: %w", p.ID, chat.ErrUnavailable)}
		}
		if err := f.copyIntoPool(ctx, p.ID); err != nil {
			return Closing{}, err
		}
	}
}

// settleLacking settles, in ordinary batches, the grants that have no claim in SQL, so that End has few left to insert.
// (Usually grabs are settling the same grants at this moment.) It puts grants that can never be paid into quarantine: the
// refund then contains their shares. It returns all other grants.
//
// It is not only an optimisation. End inserts all claims that SQL still lacks, in one transaction. A store may refuse that
// whole transaction because of one row, and then the packet would never end. settleLacking finds the grant of such a row, and
// End does not get it.
func (f *flow) settleLacking(ctx context.Context, p Ref, grants []Grant) ([]Grant, error) {
	image, err := f.image(ctx, p.ID)
	if err != nil || image.Status != Open {
		return grants, err
	}
	has := make(map[Grant]struct{}, len(image.Grants))
	for _, g := range image.Grants {
		has[g] = struct{}{}
	}
	var lacking []Claim
	for _, g := range grants {
		if _, ok := has[g]; !ok {
			lacking = append(lacking, Claim{Ref: p, Share: g.Share, Wave: g.Wave, User: g.User, At: f.now()})
		}
	}
	var failed error
	for batch := range slices.Chunk(lacking, settleBatch) {
		settled := f.ledger.Settle(ctx, batch)
		failed = cmp.Or(failed, UnsettledErr(settled))
		for i, s := range settled {
			switch c := batch[i]; s.Verdict {
			case PaidNow:
				f.settledAtClose.Add(1)
				f.observer.paid(ctx, c, s)
			case Unpayable, Unbound:
				if err := f.ledger.Quarantine(ctx, []Claim{c}, s.Why); err != nil {
					failed = cmp.Or(failed, err)
					continue
				}
				f.observer.quarantined(c, s.Why)
				grants = slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return g == Grant{User: c.User, Share: c.Share, Wave: c.Wave} })
			}
		}
	}
	return grants, failed
}

// recount makes the Pool count the claims in some of its outboxes again: in that of the next partition in turn, and in
// those that have answered Busy since the last recount.
func (f *flow) recount(ctx context.Context) error {
	f.counted = (f.counted + 1) % Partitions
	partitions := []int{f.counted}
	for i := range f.full {
		if f.full[i].Swap(false) && i != f.counted {
			partitions = append(partitions, i)
		}
	}
	return f.pool.Recount(ctx, partitions...)
}

// backstop reads from SQL, page by page, the open packets whose deadline is near or past. It calls closeSoon for those
// whose deadline passed more than overdueBy ago, and copies the others into the Pool. It never closes a packet from SQL
// alone: the Pool may have granted shares that are not in SQL yet.
func (f *flow) backstop(ctx context.Context, closeSoon func(Ref)) error {
	pass := backstopPass{flow: f}
	now := f.now()
	for after := (Overdue{}); ; {
		page, err := f.ledger.Overdue(ctx, now.Add(dueSoon), after, overduePage)
		if err != nil {
			return err
		}
		var soon [Partitions][]string
		for _, o := range page {
			switch {
			case o.ExpiresAt.Add(overdueBy).Before(now), o.IsDraw() && o.ExpiresAt.Before(now): // no sweep lists draws
				closeSoon(o.Ref)
			case !o.IsDraw():
				at := uint(o.Partition) % Partitions
				soon[at] = append(soon[at], o.ID)
			}
		}
		pass.copyAll(ctx, &soon)
		if len(page) < overduePage {
			return pass.err()
		}
		after = page[len(page)-1]
	}
}

// backstopPass holds, by partition, what failed in one pass of the backstop.
type backstopPass struct {
	flow   *flow
	spent  [Partitions]time.Duration // time that failing copies have taken
	failed [Partitions]error         // the first error of the partition
}

// copyAll copies the packets, those of several partitions concurrently. When failing copies have taken copyBudget in one
// partition, as one call to a node that does not answer does, the rest of that partition is left to the next pass.
func (b *backstopPass) copyAll(ctx context.Context, packets *[Partitions][]string) {
	var tasks []func()
	for i, ids := range packets {
		if len(ids) > 0 {
			tasks = append(tasks, func() { b.joinAll(ctx, i, ids) })
		}
	}
	b.flow.run(tasks)
}

// run runs the tasks, concurrently if parallel is set, and returns when all have ended.
func (f *flow) run(tasks []func()) {
	if f.parallel != nil {
		f.parallel(tasks)
		return
	}
	for _, task := range tasks {
		task()
	}
}

func (b *backstopPass) joinAll(ctx context.Context, partition int, ids []string) {
	for _, id := range ids {
		if b.spent[partition] >= copyBudget || ctx.Err() != nil {
			return
		}
		begun := b.flow.now()
		if err := b.flow.copyIntoPool(ctx, id); err != nil {
			b.failed[partition] = cmp.Or(b.failed[partition], err)
			b.spent[partition] += b.flow.now().Sub(begun)
		}
	}
}

// err returns the first error of the first partition that has one, or nil.
func (b *backstopPass) err() error { return cmp.Or(b.failed[:]...) }

// newImage returns the image of a packet that has no claims.
func newImage(p Packet) Image {
	return Image{Ref: p.Ref, Count: p.Count, OpensAt: p.OpensAt, Deadline: p.ExpiresAt, Hold: p.Hold, Status: Open}
}

// image returns the part of the book that the Pool must know.
func (b Book) image() Image {
	i := newImage(b.Packet)
	i.Status = b.Status
	for _, c := range b.Claims {
		i.Grants = append(i.Grants, Grant{User: c.User.ID, Share: c.Share})
	}
	return i
}

// finishedOutcome returns the outcome for a user without a share that grabs a packet that ended with this status.
func finishedOutcome(s Status) Outcome {
	if s == Drained {
		return OutcomeEmpty
	}
	return OutcomeExpired
}
