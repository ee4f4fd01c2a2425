package client

import (
	"context"
	"time"

	"hongbao/web/wire"
)

// Outcomes of a grab.
const (
	Won     = "won"
	Already = "already" // won before, or by a try that was not answered: the same share, for ever
	Empty   = "empty"
	Expired = "expired" // or cancelled
	pending = "pending"
)

// Grab is how a grab ended. Amount, Rank and At come with Won and Already, Balance with Won.
type Grab struct {
	Packet  string
	Outcome string
	Amount  int64
	Rank    int
	At      time.Time
	Balance *int64
	Claimed int
	Count   int
}

func grabOf(r wire.GrabReply) Grab {
	return Grab{
		Packet: r.Packet, Outcome: r.Outcome, Amount: r.Amount, Rank: r.Rank, At: timeOf(r.At), Balance: r.Balance,
		Claimed: r.Claimed, Count: r.Count,
	}
}

// Grab grabs a share of a packet; passphrase is "" where none is asked. It waits until the outcome is certain.
func (c *Client) Grab(ctx context.Context, packet, passphrase string) (Grab, error) {
	result := make(chan Grab, 1)
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
			return Grab{}, err
		}
		g := grabOf(reply)
		if g.Outcome == pending {
			var err error
			if g, err = c.result(ctx, result, wait); err != nil {
				return Grab{}, err
			}
		}
		if g.Outcome == "" {
			continue
		}
		if g.Balance != nil {
			c.note(func(a *Account) { a.Balance = *g.Balance })
		}
		return g, nil
	}
}

// result waits for a late outcome; none: it is time to ask again.
func (c *Client) result(ctx context.Context, result <-chan Grab, wait time.Duration) (Grab, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case g := <-result:
		return g, nil
	case <-timer.C:
		return Grab{}, nil
	case <-ctx.Done():
		return Grab{}, ctx.Err()
	case <-c.ctx.Done():
		return Grab{}, c.Err()
	}
}
