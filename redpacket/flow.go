package redpacket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/crashpoint"
)

// flow is the protocol of a packet's life as plain sequential code: no goroutine, no timer, no cache. Any
// two calls of an engine may be torn apart by a crash; whatever is left undone, a later grab, sweep, recovery
// or backstop completes.
type flow struct {
	pool    Pool
	ledger  Ledger
	now     func() time.Time
	newID   func(time.Time) string
	witness witness
}

// witness hears what has been committed, in this process, by whichever way it came.
type witness interface {
	paid(c Claim, s Settlement)
	closed(c Closed)
}

const (
	maxJoins    = 2               // how often one call heals the Pool before it gives up
	settleBatch = 500             // claims a batch when closing
	dueSoon     = 5 * time.Second // the backstop loads packets that end within this
	overdueBy   = 3 * time.Second // and closes those the sweep should have closed by now
	recoverAge  = 5 * time.Second // a claim this old has lost its holder
	pageOfWork  = 200             // packets or claims handled by one pass of a background task
)

// grabbed is how a grab ended, before it is dressed for the caller.
type grabbed struct {
	outcome Outcome
	paid    Settlement // won, already
	taken   int        // shares taken as the Pool knows it
	last    bool       // the caller holds the last share and closes the packet
	ended   bool       // the packet is closed, or about to be
}

// grab takes a share for one user and settles it. An error of kind chat.ErrUnavailable means outcome
// unknown or not done: grabbing again is always right. Who may not grab hears deny; wait hears when a share has been
// granted, before it is settled.
func (f *flow) grab(ctx context.Context, a Attempt, deny error, wait *suspense) (grabbed, error) {
	regranted := false
	for joins := 0; ; {
		ans, err := f.ask(ctx, a)
		if err != nil {
			return grabbed{}, err
		}
		v := grabbed{taken: ans.Taken}
		switch ans.Decision {
		case Missing:
			if joins++; joins > maxJoins {
				return v, fmt.Errorf("grab %s: the pool keeps losing it: %w", a.ID, chat.ErrUnavailable)
			}
			if err := f.join(ctx, a.ID); err != nil {
				return v, err
			}
			continue
		case Outsider, IsDenied:
			return v, deny
		case Busy:
			return v, fmt.Errorf("grab %s: too many unsettled claims: %w", a.ID, chat.ErrUnavailable)
		case IsClosed:
			v.outcome, v.ended = lateOutcome(ans.Reason), true
			return v, nil
		case IsLate:
			v.outcome = OutcomeExpired
			return v, nil
		case IsEmpty:
			v.outcome = OutcomeEmpty
			return v, nil
		}

		wait.granted(ans.Taken)
		c := Claim{Ref: a.Ref, Share: ans.Share, User: a.User, Entry: ans.Entry, At: f.now()}
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
			v.outcome, v.ended = lateOutcome(s.Status), true
			return v, nil
		case Conflict: // the Pool had forgotten that the share was taken; it has been joined, so ask once more
			if regranted {
				return v, fmt.Errorf("grab %s: share taken twice over: %w", a.ID, chat.ErrUnavailable)
			}
			regranted = true
		default:
			return v, fmt.Errorf("grab %s: share %d cannot be paid: %s: %w", a.ID, c.Share, s.Why, chat.ErrUnavailable)
		}
	}
}

func (f *flow) ask(ctx context.Context, a Attempt) (Answer, error) {
	answers, err := f.pool.Grab(ctx, []Attempt{a})
	if err != nil {
		return Answer{}, err
	}
	crashpoint.Here("grab.after-pool")
	if answers[0].Decision == Granted && crashpoint.Lost("grab.after-pool") {
		return Answer{}, fmt.Errorf("lost on purpose: %w", chat.ErrUnavailable)
	}
	return answers[0], nil
}

// settleOne settles a grabber's own claim and tidies up after it.
func (f *flow) settleOne(ctx context.Context, c Claim) (Settlement, error) {
	claims := []Claim{c}
	settled, err := f.ledger.Settle(ctx, claims)
	if err != nil {
		return Settlement{}, err
	}
	crashpoint.Here("grab.after-settle")
	f.tidy(ctx, claims, settled)
	crashpoint.Here("grab.after-ack")
	return settled[0], nil
}

// tidy does what has to follow a Settle: tells the witness, clears the outbox, and heals the Pool where it
// was wrong. Its failures are left to recovery, which finds the claims in the outbox again. The list of claims is used up.
func (f *flow) tidy(ctx context.Context, claims []Claim, settled []Settlement) {
	ack := claims[:0]
	var wrong []string
	for i, s := range settled {
		c := claims[i]
		switch s.Verdict {
		case PaidNow:
			f.witness.paid(c, s)
		case Duplicate:
			if s.Share != c.Share {
				wrong = append(wrong, c.ID)
			}
		case Conflict, TooLate:
			wrong = append(wrong, c.ID)
		case Unpayable:
			if f.ledger.Quarantine(ctx, []Claim{c}, s.Why) != nil {
				continue // stays in the outbox
			}
		}
		if c.Entry != "" {
			ack = append(ack, c)
		}
	}
	if len(ack) > 0 {
		_ = f.pool.Ack(ctx, ack)
	}
	slices.Sort(wrong)
	for _, id := range slices.Compact(wrong) {
		_ = f.join(ctx, id)
	}
}

// join makes the Pool know what SQL knows. It takes no lock and writes nothing to SQL: claims there only
// grow, and Load commutes, so a join that comes late does no harm.
func (f *flow) join(ctx context.Context, packet string) error {
	image, err := f.ledger.Image(ctx, packet)
	if err != nil {
		return err
	}
	return f.pool.Load(ctx, image)
}

// errNotDue means that a packet was to be closed whose time has not come, as the Pool has it.
var errNotDue = errors.New("not due")

// close ends a packet: drained, expired or cancelled, all the same way. ErrPacketFinished: a cancel came too late;
// errNotDue: there is nothing to end yet.
func (f *flow) close(ctx context.Context, p Ref, cancel bool) (Closed, error) {
	closing, err := f.closeScript(ctx, p, cancel)
	if err != nil {
		return Closed{}, err
	}
	crashpoint.Here("close.after-script")
	switch err := f.settleLacking(ctx, p, closing.Grants); {
	case errors.Is(err, chat.ErrNotFound):
		// SQL has lost it, to a standby that lagged behind or an older backup, and its money is back where it was. Nobody will
		// ever end it, so its image goes; should SQL have it again, the backstop ends it.
		return Closed{}, errors.Join(err, f.pool.Load(ctx, Image{Ref: p, Status: closing.Reason}))
	case err != nil:
		return Closed{}, err
	}
	crashpoint.Here("close.after-settle")
	now := f.now()
	closed, err := f.ledger.End(ctx, Close{
		Ref: p, Reason: closing.Reason, Grants: closing.Grants, At: now, EntryID: f.newID(now),
	})
	if err != nil {
		return Closed{}, err
	}
	// The Pool hears the end as SQL has it: winners that it forgot would be told "expired" for an hour. Loading
	// a closed packet retires it; if that fails, the due date brings it back and the close finds it done.
	_ = f.pool.Load(ctx, closed.Book.image())
	crashpoint.Here("close.after-load")
	f.witness.closed(closed)
	return closed, nil
}

func (f *flow) closeScript(ctx context.Context, p Ref, cancel bool) (Closing, error) {
	for joins := 0; ; joins++ {
		closing, err := f.pool.Close(ctx, p, cancel)
		switch {
		case err != nil:
			return Closing{}, err
		case closing.Refused && cancel:
			return Closing{}, ErrPacketFinished
		case closing.Refused:
			return Closing{}, errNotDue
		case !closing.Missing:
			return closing, nil
		case joins == maxJoins:
			return Closing{}, fmt.Errorf("close %s: the pool keeps losing it: %w", p.ID, chat.ErrUnavailable)
		}
		if err := f.join(ctx, p.ID); err != nil {
			return Closing{}, err
		}
	}
}

// settleLacking settles, in ordinary batches, the grants that SQL has no claim for: usually those that are
// on their way at this moment, so that the close transaction has little left to insert.
func (f *flow) settleLacking(ctx context.Context, p Ref, grants []Grant) error {
	image, err := f.ledger.Image(ctx, p.ID)
	if err != nil || image.Status != Open {
		return err
	}
	has := make(map[Grant]struct{}, len(image.Grants))
	for _, g := range image.Grants {
		has[g] = struct{}{}
	}
	var lacking []Claim
	for _, g := range grants {
		if _, ok := has[g]; !ok {
			lacking = append(lacking, Claim{Ref: p, Share: g.Share, User: g.User, At: f.now()})
		}
	}
	for len(lacking) > 0 {
		batch := lacking[:min(settleBatch, len(lacking))]
		lacking = lacking[len(batch):]
		settled, err := f.ledger.Settle(ctx, batch)
		if err != nil {
			return err
		}
		for i, s := range settled {
			if s.Verdict == PaidNow {
				f.witness.paid(batch[i], s)
			}
		}
	}
	return nil
}

// recover settles claims whose holder has died. Nobody is told and nothing is granted again.
func (f *flow) recover(ctx context.Context) error {
	claims, err := f.pool.Unsettled(ctx, recoverAge, pageOfWork)
	if err != nil || len(claims) == 0 {
		return err
	}
	crashpoint.Here("recover.after-list")
	settled, err := f.ledger.Settle(ctx, claims)
	if err != nil {
		return err
	}
	crashpoint.Here("recover.after-settle")
	f.tidy(ctx, claims, settled)
	crashpoint.Here("recover.after-ack")
	return nil
}

// backstop asks SQL which packets end soon and makes sure that the Pool has them due; those which should
// have been closed by now it closes, through the Pool like any other. Never from SQL alone: a claim may be
// on its way.
func (f *flow) backstop(ctx context.Context, closeSoon func(Ref)) error {
	now := f.now()
	overdue, err := f.ledger.Overdue(ctx, now.Add(dueSoon), pageOfWork)
	if err != nil {
		return err
	}
	var failed error
	for _, o := range overdue {
		if o.ExpiresAt.Add(overdueBy).Before(now) {
			closeSoon(o.Ref)
		} else if err := f.join(ctx, o.ID); err != nil {
			failed = cmp.Or(failed, err)
		}
	}
	return failed
}

// image is what a Pool must know of the packet.
func (b Book) image() Image {
	i := Image{Ref: b.Packet.Ref, Count: b.Packet.Count, Deadline: b.Packet.ExpiresAt, Status: b.Status}
	for _, c := range b.Claims {
		i.Grants = append(i.Grants, Grant{User: c.User.ID, Share: c.Share})
	}
	return i
}

// lateOutcome is what a grabber of a finished packet hears.
func lateOutcome(s Status) Outcome {
	if s == Drained {
		return OutcomeEmpty
	}
	return OutcomeExpired
}
