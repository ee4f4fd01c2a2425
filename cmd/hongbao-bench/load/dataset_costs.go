package load

import (
	"context"
	"fmt"
	"time"

	"hongbao/web/wire"
)

// Costs is the CPU time of all parts of the installation for one operation of each kind.
type Costs struct{ Grab, Delivery, Connection, Page time.Duration }

// The number of measured users is the same for each size, so a message goes to the same number of sockets. The operations at
// full effort:
const (
	actors         = 50
	actorsPackets  = 20
	actorsMessages = 600
	actorsReturns  = 20
	actorsPages    = 1000
)

// Measure lets a few users grab, send, reconnect and read history in the hall. effort scales the number of operations.
func (h *Dataset) Measure(ctx context.Context, effort float64) (costs Costs, err error) {
	h.effort = effort
	c, err := newGroup(h.target, Plan{Scenario: "grab", Users: actors, Packets: h.much(actorsPackets), Shares: actors, Closed: true, Duration: repeatTimeout, Seed: 1})
	if err != nil {
		return costs, err
	}
	defer c.endAll()
	hall := newRoom(h.group.rooms[0].id, h.group.rooms[0].channel)
	c.rooms = []*room{hall}
	if err := each(ctx, c.users, func(ctx context.Context, _ int, u *user) error { return c.join(ctx, u, hall) }); err != nil {
		return costs, err
	}
	if err := c.sendPackets(ctx); err != nil {
		return costs, err
	}
	if err := c.connectAll(ctx); err != nil {
		return costs, err
	}
	for _, part := range []struct {
		cost *time.Duration
		do   func(ctx context.Context, c *group) (n int64, err error)
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

// much returns the number of operations, scaled by the effort.
func (h *Dataset) much(of int) int { return max(1, int(h.effort*float64(of))) }

// worked returns the CPU time that all parts of the installation have used so far.
func (h *Dataset) worked() (sum time.Duration) {
	all := allStats()
	for _, p := range h.target.Processes {
		sum += p.worked(all)
	}
	return sum
}

func (h *Dataset) grabs(ctx context.Context, c *group) (int64, error) {
	err := (grab{}).play(ctx, c)
	c.settle(ctx)
	return c.runStats.won.all().TotalCount(), err
}

// deliveries sends messages, each after the last was answered. At a fixed slow rate, chance would decide how many
// messages share a commit, which is most of the cost of a message.
func (h *Dataset) deliveries(ctx context.Context, c *group) (int64, error) {
	n := h.much(actorsMessages)
	closedLoop(ctx, actors, repeatTimeout, func(i int, due time.Time, answered func()) bool {
		if i >= n {
			return false
		}
		c.sendText(c.users[i%actors], i, due, answered)
		return true
	})
	c.settle(ctx)
	return c.runStats.delivered.all().TotalCount(), ctx.Err()
}

func (h *Dataset) returns(ctx context.Context, c *group) (int64, error) {
	for range h.much(actorsReturns) {
		if err := (storm{}).play(ctx, c); err != nil {
			return 0, err
		}
	}
	return c.runStats.reconnects.all().TotalCount(), nil
}

func (h *Dataset) pages(ctx context.Context, c *group) (int64, error) {
	last, n := c.rooms[0].last(), int64(h.much(actorsPages))
	err := each(ctx, make([]struct{}, n), func(ctx context.Context, i int, _ struct{}) error {
		before := last - int64(i)*last/(2*n) // entries in the newer half of the hall
		return h.target.command(ctx, c.users[i%actors], "history", wire.HistoryRequest{Room: c.rooms[0].id, Before: &before, Limit: 50}, nil)
	})
	return n, err
}
