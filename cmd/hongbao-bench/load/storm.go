package load

import (
	"context"
	"encoding/json"
	"time"
)

// storm has all connections break, something said in every room while everybody is away, and everybody come back at
// once, to read what he has missed.
type storm struct{}

func (storm) prepare(ctx context.Context, c *crew) error { return c.fillRooms(ctx) }

func (storm) play(ctx context.Context, c *crew) error {
	c.gate.close()
	for _, u := range c.users {
		u.hangUp()
	}
	if err := until(ctx, comePatience, func() bool { return c.board.connected.Load() == 0 }); err != nil {
		return err
	}
	err := each(ctx, c.rooms, func(ctx context.Context, i int, r *room) error {
		for n := range c.plan.Missed {
			if err := c.speakOver(ctx, r, i*c.plan.Missed+n); err != nil {
				return err
			}
		}
		return nil
	})
	c.gate.open()
	if err != nil {
		return err
	}
	return c.allIn(ctx)
}

// speakOver says something over HTTP.
func (c *crew) speakOver(ctx context.Context, r *room, number int) error {
	var answer struct {
		Seq int64  `json:"seq"`
		ID  string `json:"id"`
		At  int64  `json:"at"`
	}
	key := c.timedKey(number, time.Now())
	if err := c.target.command(ctx, r.owner, "send", json.RawMessage(textOf(r.id, key)), &answer); err != nil {
		return err
	}
	if !r.acknowledge(sent{seq: answer.Seq, id: []byte(answer.ID), at: answer.At}, key) {
		c.checks.fault(checkAcked, "entry %d of %s is two", answer.Seq, r.id)
	}
	return nil
}
