package load

import (
	"context"
	"fmt"
	"time"

	"hongbao/web/wire"
)

// Costs are what things take of the time of all parts together.
type Costs struct{ Grab, Delivery, Connection, Page time.Duration }

// The people who are measured are as many in every house, so a message goes to as many sockets. What they do at full effort:
const (
	actors         = 50
	actorsPackets  = 20
	actorsMessages = 600
	actorsReturns  = 20
	actorsPages    = 1000
)

// Measure has a few people grab, talk, come back and read in the hall, with so much of the full effort.
func (h *House) Measure(ctx context.Context, effort float64) (costs Costs, err error) {
	h.effort = effort
	c, err := assemble(h.target, Plan{Scenario: "grab", Users: actors, Packets: h.much(actorsPackets), Shares: actors, Closed: true, Duration: patience, Seed: 1})
	if err != nil {
		return costs, err
	}
	defer c.dismiss()
	hall := newRoom(h.crew.rooms[0].id, h.crew.rooms[0].channel)
	c.rooms = []*room{hall}
	if err := each(ctx, c.users, func(ctx context.Context, _ int, u *user) error { return c.join(ctx, u, hall) }); err != nil {
		return costs, err
	}
	if err := c.sendPackets(ctx); err != nil {
		return costs, err
	}
	if err := c.come(ctx); err != nil {
		return costs, err
	}
	for _, part := range []struct {
		cost *time.Duration
		do   func(ctx context.Context, c *crew) (n int64, err error)
	}{{&costs.Grab, h.grabs}, {&costs.Delivery, h.deliveries}, {&costs.Connection, h.returns}, {&costs.Page, h.pages}} {
		before := h.worked()
		n, err := part.do(ctx, c)
		if err != nil {
			return costs, err
		}
		*part.cost = (h.worked() - before) / time.Duration(max(n, 1))
	}
	for _, check := range c.checks.all() {
		if !check.Held {
			return costs, fmt.Errorf("violated: %s: %s", check.Name, check.Detail)
		}
	}
	return costs, nil
}

// much is so much of something, as the effort is.
func (h *House) much(of int) int { return max(1, int(h.effort*float64(of))) }

// worked is how long all parts have worked so far.
func (h *House) worked() (sum time.Duration) {
	all := allStats()
	for _, p := range h.target.Processes {
		sum += p.worked(all)
	}
	return sum
}

func (h *House) grabs(ctx context.Context, c *crew) (int64, error) {
	err := (grab{}).play(ctx, c)
	c.settle(ctx)
	return c.board.won.all().TotalCount(), err
}

// deliveries are those of messages that are said as fast as they are acknowledged: at a slow pace it would be a matter of
// chance how many share a commit, and that is most of what one costs.
func (h *House) deliveries(ctx context.Context, c *crew) (int64, error) {
	n := h.much(actorsMessages)
	chase(ctx, actors, patience, func(i int, due time.Time, answered func()) bool {
		if i >= n {
			return false
		}
		c.speak(c.users[i%actors], i, due, answered)
		return true
	})
	c.settle(ctx)
	return c.board.delivered.all().TotalCount(), ctx.Err()
}

func (h *House) returns(ctx context.Context, c *crew) (int64, error) {
	for range h.much(actorsReturns) {
		if err := (storm{}).play(ctx, c); err != nil {
			return 0, err
		}
	}
	return c.board.back.all().TotalCount(), nil
}

func (h *House) pages(ctx context.Context, c *crew) (int64, error) {
	last, n := c.rooms[0].last(), int64(h.much(actorsPages))
	err := each(ctx, make([]struct{}, n), func(ctx context.Context, i int, _ struct{}) error {
		before := last - int64(i)*last/(2*n) // the newer half of the hall
		return h.target.command(ctx, c.users[i%actors], "history", wire.HistoryRequest{Room: c.rooms[0].id, Before: &before, Limit: 50}, nil)
	})
	return n, err
}
