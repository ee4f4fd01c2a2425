package client

import (
	"context"
	"time"

	"hongbao/web/wire"
)

// The possible outcomes of a grab.
const (
	Won     = "won"
	Already = "already" // the user has won a share before, perhaps by a try that was not answered; it is the same share
	Empty   = "empty"
	Expired = "expired" // the packet has expired or was cancelled
	pending = "pending"
)

// Grab is the result of a grab. Amount, Rank and At are set for Won and Already, and Balance only for Won.
type Grab struct {
	Packet         string
	Outcome        string
	Amount         int64
	Rank           int
	At             time.Time
	Balance        *int64
	AccountVersion int64 // of Balance; see Account
	Claimed        int
	Count          int
}

func grabOf(r wire.GrabReply) Grab {
	return Grab{
		Packet: r.Packet, Outcome: r.Outcome, Amount: r.Amount, Rank: r.Rank, At: timeOf(r.At), Balance: r.Balance, AccountVersion: r.AccountVersion,
		Claimed: r.Claimed, Count: r.Count,
	}
}

// Grab grabs a share of a packet. passphrase is "" for a packet without one. It repeats the command until the outcome
// is certain or ctx is done.
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
		return g, nil
	}
}

// result waits for the pushed outcome of a pending grab. If it returns a zero Grab, the caller must send the grab
// again.
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
