package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"hongbao/web/wire"
)

// grab has everybody in one room grab what was sent there: each user each packet once, some of them with a double click.
type grab struct{}

const (
	shareOnAverage = 100 // minor units
	packetTTL      = int64(3600)
	doubleClicks   = 20 // one of so many grabs comes twice
	richUsers      = 64 // who send the packets
)

func (grab) prepare(ctx context.Context, c *crew) error {
	if err := c.makeRooms(ctx, 1, func(int) *user { return c.users[0] }); err != nil {
		return err
	}
	err := each(ctx, c.users, func(ctx context.Context, _ int, u *user) error { return c.join(ctx, u, c.rooms[0]) })
	if err != nil {
		return err
	}
	return c.sendPackets(ctx)
}

// packets that the plan needs.
func (p Plan) packets() int {
	if p.Closed || p.Packets > 1 {
		return p.Packets
	}
	return max(1, (int(p.Rate*p.Duration.Seconds())+p.Users-1)/p.Users)
}

func (c *crew) sendPackets(ctx context.Context) error {
	n, total := c.plan.packets(), int64(shareOnAverage*c.plan.Shares)
	senders := c.users[:min(richUsers, len(c.users))]
	if c.target.Passes.Admin != "" {
		allowance := total * int64(n/len(senders)+1)
		err := each(ctx, senders, func(ctx context.Context, i int, u *user) error {
			return c.target.credit(ctx, u.id, allowance, c.key("credit", i))
		})
		if err != nil {
			return err
		}
	}
	c.pots = make([]*pot, n)
	count, ttl := c.plan.Shares, packetTTL
	return each(ctx, c.pots, func(ctx context.Context, i int, _ *pot) error {
		var made wire.SendPacketReply
		u := senders[i%len(senders)]
		err := c.target.command(ctx, u, "send_packet", wire.SendPacketRequest{
			Room: c.rooms[0].id, Key: c.key("packet", i), Total: total, Count: &count, TTLS: &ttl,
		}, &made)
		c.pots[i] = newPot(made.Packet.ID, u, total, count)
		return err
	})
}

func (grab) play(ctx context.Context, c *crew) error {
	if c.plan.Closed {
		chase(ctx, len(c.users), c.plan.Duration, func(i int, due time.Time, answered func()) bool {
			if i >= len(c.pots)*len(c.users) {
				return false
			}
			c.grab(c.who(i), c.which(i), due, answered)
			return true
		})
		return ctx.Err()
	}
	random := rand.New(rand.NewPCG(c.plan.Seed, 1))
	s := newSchedule(time.Now(), c.plan.Rate, c.plan.Duration)
	s.n = min(s.n, len(c.pots)*len(c.users))
	twice := make([]bool, s.n)
	for i := range twice {
		twice[i] = random.IntN(doubleClicks) == 0
	}
	s.follow(ctx, func(i int, due time.Time) {
		u, p := c.who(i), c.which(i)
		c.grab(u, p, due, func() {})
		if twice[i] {
			c.grab(u, p, due, func() {})
		}
	})
	return ctx.Err()
}

// which packet the i-th grab is of: one after the other, or all at the same time.
func (c *crew) which(i int) *pot {
	if c.plan.Packets > 1 && !c.plan.Closed {
		return c.pots[i%len(c.pots)]
	}
	return c.pots[i/len(c.users)]
}

// who grabs then: each user each packet once.
func (c *crew) who(i int) *user {
	if c.plan.Packets > 1 && !c.plan.Closed {
		return c.users[(i/len(c.pots)+101*(i%len(c.pots)))%len(c.users)]
	}
	return c.users[i%len(c.users)]
}

// grab has a user grab. When nobody knows the outcome yet he asks again.
func (c *crew) grab(u *user, p *pot, due time.Time, answered func()) {
	c.said.Add(1)
	c.open.Add(1)
	request := []byte(`{"packet":"` + p.id + `"}`)
	var ask func()
	ask = func() {
		u.say(&call{method: "grab", data: request, due: due, answered: func(data []byte, failed *refusal) {
			g, ok := readGrabbed(data)
			if failed == nil && ok && g.outcome == "pending" && time.Since(due) < patience {
				c.board.failed("pending")
				time.AfterFunc(again, ask)
				return
			}
			c.open.Add(-1)
			c.outcome(u, p, g, failed, time.Since(due))
			answered()
		}})
	}
	ask()
}

// outcome notes what a user was told.
func (c *crew) outcome(u *user, p *pot, g grabbed, failed *refusal, took time.Duration) {
	switch {
	case failed != nil:
		c.checks.fault(checkAnswered, "%s: grab: %s", u.id, failed.word)
		return
	case g.outcome == "won":
		c.board.won.note(took)
	default:
		c.board.sorry.note(took)
	}
	p.told(u.id, g, c.checks)
}

// addUp compares what was told with what is stored.
func (c *crew) addUp(ctx context.Context) error {
	answered := c.open.Load() == 0
	return each(ctx, c.pots, func(ctx context.Context, _ int, p *pot) error {
		stored := map[string]share{}
		for rank := 0; ; {
			var page wire.PacketReply
			if err := c.target.command(ctx, p.owner, "packet", wire.PacketRequest{Packet: p.id, AfterRank: rank, Limit: 100}, &page); err != nil {
				return err
			}
			for _, claim := range page.Claims {
				if _, twice := stored[claim.User.ID]; twice || claim.Rank <= rank {
					c.checks.fault(checkShare, "packet %s: %s is stored as its winner of share %d after share %d", p.id, claim.User.ID, claim.Rank, rank)
				}
				stored[claim.User.ID], rank = share{claim.Amount, claim.Rank}, claim.Rank
			}
			if !page.More {
				p.add(stored, page.State.Status == "drained", answered, c.checks)
				return nil
			}
			if len(page.Claims) == 0 {
				return errors.New("an empty page of claims, and more to come")
			}
		}
	})
}
