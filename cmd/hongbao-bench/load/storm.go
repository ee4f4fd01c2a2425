package load

import (
	"context"
	"encoding/json"
	"time"
)

// storm is the scenario that breaks all connections. It sends messages in every room while all users are disconnected. Then
// all users reconnect at the same time and recover the messages.
type storm struct{}

func (storm) prepare(ctx context.Context, c *group) error { return c.fillRooms(ctx) }

func (storm) play(ctx context.Context, c *group) error {
	c.gate.close()
	for _, u := range c.users {
		u.disconnect()
	}
	if err := until(ctx, connectAllTimeout, func() bool { return c.runStats.connected.Load() == 0 }); err != nil {
		return err
	}
	err := each(ctx, c.rooms, func(ctx context.Context, i int, r *room) error {
		for n := range c.plan.Missed {
			if err := c.sendTextOverHTTP(ctx, r, i*c.plan.Missed+n); err != nil {
				return err
			}
		}
		return nil
	})
	c.gate.open()
	if err != nil {
		return err
	}
	return c.awaitConnected(ctx)
}

// sendTextOverHTTP sends a message over HTTP.
func (c *group) sendTextOverHTTP(ctx context.Context, r *room, number int) error {
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
		c.checks.fault(checkAcked, "entry %d of %s was acknowledged for two messages", answer.Seq, r.id)
	}
	return nil
}
