package load

import (
	"context"
	"math/rand/v2"
	"time"
)

// grab is the scenario in which users grab the packets of their rooms. A user grabs a packet at most once; unless the loop is
// closed, some grabs are double clicks. If the packets are grabbed one after the other, all users are in one room. If many
// packets are grabbed at the same time, they are spread over rooms of at most the plan's size.
type grab struct{}

const (
	shareOnAverage = 100 // minor units
	packetTTL      = int64(3600)
	doubleClicks   = 20 // on average, one grab in this many is sent twice; a closed loop has no double clicks
	richUsers      = 64 // most users that send the packets; with more rooms than this, one in each room
)

func (grab) prepare(ctx context.Context, c *group) error {
	if !c.plan.spread() {
		c.plan.RoomSize = len(c.users)
	}
	if err := c.fillRooms(ctx); err != nil {
		return err
	}
	return c.sendPackets(ctx)
}

// spread reports whether many packets are grabbed at the same time.
func (p Plan) spread() bool { return p.Packets > 1 && !p.Closed }

// packets returns how many packets the plan needs.
func (p Plan) packets() int {
	if p.Closed || p.Packets > 1 {
		return p.Packets
	}
	return max(1, (int(p.Rate*p.Duration.Seconds())+p.Users-1)/p.Users)
}

func (grab) play(ctx context.Context, c *group) error {
	if c.plan.Closed {
		closedLoop(ctx, len(c.users), c.plan.Duration, func(i int, due time.Time, answered func()) bool {
			if i >= len(c.packetLogs)*c.grabbers() {
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
	s.n = min(s.n, len(c.packetLogs)*c.grabbers())
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

// place returns the user and the packet of the i-th grab. Packets come one after the other, or all at the same time.
// No two numbers have the same user and the same packet.
func (c *group) place(i int) (*user, *packetLog) {
	packet, before := i/c.grabbers(), i%c.grabbers()
	if c.plan.spread() {
		packet, before = i%len(c.packetLogs), i/len(c.packetLogs)
	}
	return c.member(packet, before), c.packetLogs[packet]
}

// grab sends a user's grab, and sends it again while the answer is "pending", for at most repeatTimeout.
func (c *group) grab(u *user, p *packetLog, due time.Time, answered func()) {
	c.sent.Add(1)
	c.open.Add(1)
	c.ask(u, p, due, false, answered)
}

// ask sends a grab for the first time, or again after "pending".
func (c *group) ask(u *user, p *packetLog, due time.Time, pending bool, answered func()) {
	u.send(&call{method: "grab", data: p.request, due: due, answered: func(now time.Time, data []byte, failed *refusal) {
		g, ok := readGrabbed(data)
		if failed == nil && ok && g.outcome == "pending" && now.Sub(due) < repeatTimeout {
			c.runStats.failed("pending")
			time.AfterFunc(again, func() { c.ask(u, p, due, true, answered) })
			return
		}
		c.open.Add(-1)
		c.outcome(u, p, g, failed, pending, now.Sub(due))
		answered()
	}})
}

// outcome records the answer to a grab. After "pending", a winner may be answered "already", which counts as won.
func (c *group) outcome(u *user, p *packetLog, g grabbed, failed *refusal, pending bool, took time.Duration) {
	switch {
	case failed != nil:
		c.checks.fault(checkAnswered, "%s: grab: %s", u.id, failed.word)
		return
	case g.outcome == "won", pending && g.outcome == "already":
		c.runStats.won.note(took)
	default:
		c.runStats.notWon.note(took)
	}
	p.record(u.id, g, c.checks)
}
