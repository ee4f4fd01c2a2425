package client

import (
	"context"
	"iter"
	"time"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// Transfer is one transfer into or out of the user's wallet.
type Transfer struct {
	ID     string
	At     time.Time
	Amount int64  // negative if money left the wallet
	Kind   string // credit, debit, send, claim or refund
	Packet string
	Note   string
}

// Wallet reads the user's current account.
func (c *Client) Wallet(ctx context.Context) (model.Account, error) {
	var reply wire.WalletReply
	if err := c.Call(ctx, "wallet", wire.WalletRequest{Limit: 1}, &reply); err != nil {
		return model.Account{}, err
	}
	return c.Account(), nil
}

// Transfers iterates over the user's transfers, from the newest to the oldest.
func (c *Client) Transfers(ctx context.Context) iter.Seq2[Transfer, error] {
	return pages(func(next string) ([]Transfer, string, error) {
		var reply wire.WalletReply
		err := c.Call(ctx, "wallet", wire.WalletRequest{Next: next, Limit: pageLimit}, &reply)
		return mapped(reply.Transfers, func(t wire.Transfer) Transfer {
			return Transfer{ID: t.ID, At: model.TimeOf(t.At), Amount: t.Amount, Kind: t.Kind, Packet: t.Packet, Note: t.Note}
		}), reply.Next, err
	})
}

// Period selects packets that the user has sent or received in the time from From up to but not including To. A zero
// time means no bound.
type Period struct {
	Sent     bool // packets sent by the user; false: packets received
	From, To time.Time

	Zone *time.Location // of packets received: the Totals have the best day, by the offset that the zone has at From; nil: they have not
}

// PacketState is a packet with its state.
type PacketState struct {
	Packet model.Packet
	State  model.State
	Seq    int64 // of its entry in the room
}

func packetStateOf(s wire.PacketState) PacketState {
	return PacketState{Packet: model.PacketOf(s.Packet), State: model.StateOf(s.State), Seq: s.Seq}
}

// Packets iterates over the user's packets of a period, from the newest to the oldest.
func (c *Client) Packets(ctx context.Context, p Period) iter.Seq2[PacketState, error] {
	return pages(func(next string) ([]PacketState, string, error) {
		reply, err := c.packets(ctx, p, next, pageLimit)
		return mapped(reply.Packets, packetStateOf), reply.Next, err
	})
}

// WaitingPackets returns the newest open packets of others in the user's rooms that the user may still grab, at most 100.
func (c *Client) WaitingPackets(ctx context.Context) ([]PacketState, error) {
	var reply wire.PacketsReply
	err := c.Call(ctx, "packets", wire.PacketsRequest{Direction: "waiting", Limit: pageLimit}, &reply)
	return mapped(reply.Packets, packetStateOf), err
}

// Totals sums up the user's packets of a period.
func (c *Client) Totals(ctx context.Context, p Period) (model.Totals, error) {
	reply, err := c.packets(ctx, p, "", 1)
	return reply.Totals, err
}

func (c *Client) packets(ctx context.Context, p Period, next string, limit int) (reply wire.PacketsReply, err error) {
	request := wire.PacketsRequest{Direction: "received", From: millis(p.From), To: millis(p.To), Next: next, Limit: limit}
	if p.Sent {
		request.Direction = "sent"
	}
	if p.Zone != nil {
		_, ahead := p.From.In(p.Zone).Zone()
		request.UTCOffsetMin = new(int64(ahead / 60))
	}
	err = c.Call(ctx, "packets", request, &reply)
	return reply, err
}

// millis converts a time to Unix milliseconds; the zero time becomes nil, which is left out on the wire.
func millis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}
