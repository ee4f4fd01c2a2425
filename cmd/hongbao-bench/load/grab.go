package load

import (
	"context"
	"math/rand/v2"
	"time"
)

// grab has everybody grab what was sent into his room, each packet once, some of them with a double click. Hot packets are
// in one room that all are in; many at the same time are spread over rooms of the plan's size.
type grab struct{}

const (
	shareOnAverage = 100 // minor units
	packetTTL      = int64(3600)
	doubleClicks   = 20 // one of so many grabs comes twice
	richUsers      = 64 // who send the packets
)

func (grab) prepare(ctx context.Context, c *crew) error {
	if !c.plan.spread() {
		c.plan.RoomSize = len(c.users)
	}
	if err := c.fillRooms(ctx); err != nil {
		return err
	}
	return c.sendPackets(ctx)
}

// spread tells whether many packets are grabbed at the same time.
func (p Plan) spread() bool { return p.Packets > 1 && !p.Closed }

// packets that the plan needs.
func (p Plan) packets() int {
	if p.Closed || p.Packets > 1 {
		return p.Packets
	}
	return max(1, (int(p.Rate*p.Duration.Seconds())+p.Users-1)/p.Users)
}

func (grab) play(ctx context.Context, c *crew) error {
	if c.plan.Closed {
		chase(ctx, len(c.users), c.plan.Duration, func(i int, due time.Time, answered func()) bool {
			if i >= len(c.pots)*c.grabbers() {
				return false
			}
			u, p := c.place(i)
			c.grab(u, p, due, answered)
			return true
		})
		return ctx.Err()
	}
	random := rand.New(rand.NewPCG(c.plan.Seed, 1))
	s := newSchedule(time.Now(), c.plan.Rate, c.plan.Duration)
	s.n = min(s.n, len(c.pots)*c.grabbers())
	twice := make([]bool, s.n)
	for i := range twice {
		twice[i] = random.IntN(doubleClicks) == 0
	}
	s.follow(ctx, func(i int, due time.Time) {
		u, p := c.place(i)
		c.grab(u, p, due, func() {})
		if twice[i] {
			c.grab(u, p, due, func() {})
		}
	})
	return ctx.Err()
}

// place says which packet the i-th grab is of, and who grabs: one packet after the other, or all at the same time, and each
// user each packet once.
func (c *crew) place(i int) (*user, *pot) {
	packet, before := i/c.grabbers(), i%c.grabbers()
	if c.plan.spread() {
		packet, before = i%len(c.pots), i/len(c.pots)
	}
	return c.member(packet, before), c.pots[packet]
}

// grab has a user grab. When nobody knows the outcome yet he asks again.
func (c *crew) grab(u *user, p *pot, due time.Time, answered func()) {
	c.said.Add(1)
	c.open.Add(1)
	c.ask(u, p, due, false, answered)
}

// ask has a user grab, after he has heard that it is pending or at first.
func (c *crew) ask(u *user, p *pot, due time.Time, pending bool, answered func()) {
	u.say(&call{method: "grab", data: p.request, due: due, answered: func(now time.Time, data []byte, failed *refusal) {
		g, ok := readGrabbed(data)
		if failed == nil && ok && g.outcome == "pending" && now.Sub(due) < patience {
			c.board.failed("pending")
			time.AfterFunc(again, func() { c.ask(u, p, due, true, answered) })
			return
		}
		c.open.Add(-1)
		c.outcome(u, p, g, failed, pending, now.Sub(due))
		answered()
	}})
}

// outcome notes what a user was told. Who has heard that it is pending is told later that he has it already.
func (c *crew) outcome(u *user, p *pot, g grabbed, failed *refusal, pending bool, took time.Duration) {
	switch {
	case failed != nil:
		c.checks.fault(checkAnswered, "%s: grab: %s", u.id, failed.word)
		return
	case g.outcome == "won", pending && g.outcome == "already":
		c.board.won.note(took)
	default:
		c.board.sorry.note(took)
	}
	p.told(u.id, g, c.checks)
}
