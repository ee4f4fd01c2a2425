package flaws

import (
	"context"
	"fmt"
	"time"

	"hongbao/cmd/hongbao-bench/schemes"
)

// ended describes a packet at the end of a scenario, in most scenarios after its deadline.
type ended struct {
	schemes.Book

	total int64
	late  schemes.Verdict // the answer to a grab after the deadline
}

func (e ended) String() string {
	return fmt.Sprintf("of %s, %s was paid, %s refunded, %s is left", money(e.total), money(sum(e.Book)), money(e.Refunded), money(e.Left))
}

func (e ended) right() bool {
	return e.Left == 0 && e.Refunded == e.total-sum(e.Book) && len(e.Paid) > 0
}

// grabbed opens a packet of 5 shares with a short deadline, and lets three users grab. It returns when they are answered: their
// grabs may not be stored yet.
func grabbed(ctx context.Context, s *schemes.Instance, id string, ttl time.Duration) (p schemes.Packet, deadline time.Time, err error) {
	p = packet(id, 5, 1_000_000, ttl)
	if err := s.Open(ctx, p); err != nil {
		return p, deadline, err
	}
	deadline = time.Now().Add(ttl) // a moment after the real deadline, which Open has set
	newAnswers().inTurn(ctx, s, id, userNames(0, 3))
	return p, deadline, nil
}

// end waits for the packet's deadline, and then until its rest is refunded, but at most 4 s: a refund takes less.
func end(ctx context.Context, s schemes.Scheme, p schemes.Packet, deadline time.Time) (ended, error) {
	if err := sleep(ctx, time.Until(deadline)); err != nil {
		return ended{}, err
	}
	b, err := book(ctx, s, p.ID, 4*time.Second, func(b schemes.Book) bool { return b.Left == 0 })
	return ended{Book: b, total: p.Total()}, err
}

func lostEvent(ctx context.Context, st *Environment) (Finding, error) {
	theirs, ours, err := both(ctx, st, "lua-split", func(ctx context.Context, sc *scenario) (ended, error) {
		s, err := sc.start(ctx)
		if err != nil {
			return ended{}, err
		}
		p, deadline, err := grabbed(ctx, s, "unheard", time.Second)
		if err != nil {
			return ended{}, err
		}
		if _, err := book(ctx, s, p.ID, timeout, func(b schemes.Book) bool { return len(b.Paid) == 3 }); err != nil {
			return ended{}, err
		}
		if err := s.Stop(); err != nil {
			return ended{}, err
		}
		if err := sleep(ctx, time.Until(deadline)+300*time.Millisecond); err != nil { // Redis has sent the event by then
			return ended{}, err
		}
		if s, err = sc.another(ctx); err != nil {
			return ended{}, err
		}
		return end(ctx, s, p, deadline)
	})
	return Finding{
		Reproduced: theirs.Refunded == 0 && theirs.Left > 0,
		Evidence:   "no process ran when it expired; later " + theirs.String(), Ours: ours.String(), OursPasses: ours.right(),
	}, err
}

func lateGrab(ctx context.Context, st *Environment) (Finding, error) {
	theirs, ours, err := both(ctx, st, "lua-split", func(ctx context.Context, sc *scenario) (ended, error) {
		s, err := sc.start(ctx)
		if err != nil {
			return ended{}, err
		}
		for round := 0; ; round++ {
			p, deadline, err := grabbed(ctx, s, fmt.Sprintf("late-%d", round), 2*time.Second)
			if err != nil {
				return ended{}, err
			}
			if err := sleep(ctx, time.Until(deadline)-250*time.Millisecond); err != nil {
				return ended{}, err
			}
			a, err := s.Grab(ctx, p.ID, "late")
			if err != nil {
				return ended{}, err
			}
			if a.Verdict != schemes.Got && round < 5 { // try again: on a slow machine, the grab came after the deadline
				continue
			}
			e, err := end(ctx, s, p, deadline)
			e.late = a.Verdict
			return e, err
		}
	})
	say := func(e ended) string {
		return fmt.Sprintf("a grab 0.25 s before the deadline is answered %q; ", e.late) + e.String()
	}
	return Finding{
		Reproduced: theirs.late == schemes.Got && theirs.Refunded == 0 && theirs.Left > 0,
		Evidence:   say(theirs), Ours: say(ours), OursPasses: ours.late == schemes.Got && ours.right(),
	}, err
}

func noExpiry(ctx context.Context, st *Environment) (Finding, error) {
	theirs, ours, err := both(ctx, st, "lua-list", func(ctx context.Context, sc *scenario) (ended, error) {
		s, err := sc.start(ctx)
		if err != nil {
			return ended{}, err
		}
		p, deadline, err := grabbed(ctx, s, "endless", time.Second)
		if err != nil {
			return ended{}, err
		}
		e, err := end(ctx, s, p, deadline)
		if err != nil {
			return e, err
		}
		a, err := s.Grab(ctx, p.ID, "late")
		e.late = a.Verdict
		return e, err
	})
	say := func(e ended) string { return e.String() + fmt.Sprintf("; a grab seconds late is answered %q", e.late) }
	return Finding{
		Reproduced: theirs.late == schemes.Got && theirs.Refunded == 0 && theirs.Left > 0,
		Evidence:   say(theirs), Ours: say(ours), OursPasses: ours.late == schemes.Unknown && ours.right(),
	}, err
}

func postponedExpiry(ctx context.Context, st *Environment) (Finding, error) {
	const ttl = 2 * time.Second
	type result struct {
		ended

		alive time.Duration // from the send of the packet to the last grab that got a share
	}
	theirs, ours, err := both(ctx, st, "lua-split", func(ctx context.Context, sc *scenario) (r result, err error) {
		p := packet("steady", 30, 50_000_000, ttl)
		s, err := sc.opened(ctx, p)
		if err != nil {
			return r, err
		}
		opened := time.Now()
		for n := range 12 {
			if err := sleep(ctx, time.Until(opened.Add(time.Duration(n)*400*time.Millisecond))); err != nil {
				return r, err
			}
			a, err := s.Grab(ctx, p.ID, fmt.Sprintf("u%d", n))
			if err != nil {
				return r, err
			}
			if a.Verdict == schemes.Got {
				r.alive = time.Since(opened)
			}
		}
		r.ended, err = end(ctx, s, p, opened.Add(ttl))
		return r, err
	})
	say := func(r result) string {
		return fmt.Sprintf("a packet of 2 s, a grab every 0.4 s: shares were given until %.1f s; then %s", r.alive.Seconds(), r.String())
	}
	return Finding{
		Reproduced: theirs.alive > ttl+500*time.Millisecond,
		Evidence:   say(theirs), Ours: say(ours), OursPasses: ours.alive < ttl+100*time.Millisecond && ours.right(),
	}, err
}
