package client

import (
	"context"
	"time"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// pending is an outcome that Grab never returns, because Grab then waits for the result.
const pending = "pending"

// Grab grabs a share of a packet. passphrase is "" for a packet without one. It repeats the command until the outcome
// is certain, the server refuses the grab, ctx is done or the client has ended.
func (c *Client) Grab(ctx context.Context, packet, passphrase string) (model.Grab, error) {
	result := make(chan model.Grab, 1)
	c.mu.Lock()
	c.grabs[result] = packet
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.grabs, result)
	}()
	for wait := time.Second; ; wait = min(2*wait, 10*time.Second) {
		var reply wire.GrabReply
		if err := c.Call(ctx, "grab", wire.GrabRequest{Packet: packet, Passphrase: passphrase}, &reply); err != nil {
			return model.Grab{}, err
		}
		g := model.GrabOf(reply)
		if g.Outcome == pending {
			var err error
			if g, err = c.result(ctx, result, wait); err != nil {
				return model.Grab{}, err
			}
		}
		if g.Outcome == "" {
			continue
		}
		return g, nil
	}
}

// result waits for the pushed outcome of a pending grab. If it returns a zero Grab, the caller must send the grab
// again.
func (c *Client) result(ctx context.Context, result <-chan model.Grab, wait time.Duration) (model.Grab, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case g := <-result:
		return g, nil
	case <-timer.C:
		return model.Grab{}, nil
	case <-ctx.Done():
		return model.Grab{}, ctx.Err()
	case <-c.ctx.Done():
		return model.Grab{}, c.Err()
	}
}
