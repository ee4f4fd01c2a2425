package client

import (
	"context"
	"iter"
	"time"

	"hongbao/web/wire"
)

// Transfer is one movement of one's money.
type Transfer struct {
	ID     string
	At     time.Time
	Amount int64  // signed
	Kind   string // credit, debit, send, claim, refund
	Packet string
	Note   string
}

// Wallet asks for one's money as it is now.
func (c *Client) Wallet(ctx context.Context) (Account, error) {
	var reply wire.WalletReply
	if err := c.Call(ctx, "wallet", wire.WalletRequest{Limit: 1}, &reply); err != nil {
		return Account{}, err
	}
	c.note(func(a *Account) { a.Balance, a.NextCommitment = reply.Balance, reply.NextCommitment })
	return c.Account(), nil
}

// Transfers goes through the movements of one's money, the newest first.
func (c *Client) Transfers(ctx context.Context) iter.Seq2[Transfer, error] {
	return pages(func(next string) ([]Transfer, string, error) {
		var reply wire.WalletReply
		err := c.Call(ctx, "wallet", wire.WalletRequest{Next: next, Limit: pageLimit}, &reply)
		return mapped(reply.Transfers, func(t wire.Transfer) Transfer {
			return Transfer{ID: t.ID, At: timeOf(t.At), Amount: t.Amount, Kind: t.Kind, Packet: t.Packet, Note: t.Note}
		}), reply.Next, err
	})
}

// Period says which of one's packets are meant: those sent or those received, from one time until before
// another. Zero times mean no bound.
type Period struct {
	Sent     bool // else: received
	From, To time.Time
}

// PacketState is a packet with its state.
type PacketState struct {
	Packet Packet
	State  State
}

// Packets goes through one's packets, the newest first.
func (c *Client) Packets(ctx context.Context, p Period) iter.Seq2[PacketState, error] {
	return pages(func(next string) ([]PacketState, string, error) {
		reply, err := c.packets(ctx, p, next, pageLimit)
		return mapped(reply.Packets, func(s wire.PacketState) PacketState {
			return PacketState{Packet: packetOf(s.Packet), State: stateOf(s.State)}
		}), reply.Next, err
	})
}

// Totals sums up one's packets.
func (c *Client) Totals(ctx context.Context, p Period) (Totals, error) {
	reply, err := c.packets(ctx, p, "", 1)
	return reply.Totals, err
}

func (c *Client) packets(ctx context.Context, p Period, next string, limit int) (reply wire.PacketsReply, err error) {
	request := wire.PacketsRequest{Direction: "received", From: millis(p.From), To: millis(p.To), Next: next, Limit: limit}
	if p.Sent {
		request.Direction = "sent"
	}
	err = c.Call(ctx, "packets", request, &reply)
	return reply, err
}

// millis is a time on the wire; the zero time is left out.
func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

// note changes what is known of one's money.
func (c *Client) note(change func(*Account)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.account)
}
