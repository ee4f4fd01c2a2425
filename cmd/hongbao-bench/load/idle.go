package load

import (
	"context"
	"time"
)

// idle is the scenario in which every user sends one command, and then only answers pings. Each user is in a room of their own,
// and all are in one common room.
type idle struct{}

func (idle) prepare(ctx context.Context, c *group) error {
	if err := c.makeRooms(ctx, 1+len(c.users), func(i int) *user { return c.users[max(i-1, 0)] }); err != nil {
		return err
	}
	return each(ctx, c.users, func(ctx context.Context, i int, u *user) error {
		if err := c.join(ctx, u, c.rooms[0]); err != nil {
			return err
		}
		return c.join(ctx, u, c.rooms[1+i])
	})
}

func (idle) play(ctx context.Context, c *group) error {
	for _, u := range c.users {
		c.look(u)
	}
	if err := until(ctx, repeatTimeout, func() bool { return c.open.Load() == 0 }); err != nil {
		return err
	}
	before := c.runStats.lost.Load()
	pause(ctx, c.plan.Duration)
	c.checks.saw(checkStayed, int64(len(c.users)))
	if lost := c.runStats.lost.Load() - before; lost > 0 {
		c.checks.fault(checkStayed, "%d connections were lost", lost)
	}
	return ctx.Err()
}

// look sends the one command: it reads the history of the user's own room.
func (c *group) look(u *user) {
	c.sent.Add(1)
	c.open.Add(1)
	data := []byte(`{"room":"` + u.journals[len(u.journals)-1].room.id + `","limit":1}`)
	u.send(&call{method: "history", data: data, due: time.Now(), answered: func(_ time.Time, _ []byte, failed *refusal) {
		c.open.Add(-1)
		if failed != nil {
			c.checks.fault(checkAnswered, "%s: history: %s", u.id, failed.word)
		}
	}})
}
