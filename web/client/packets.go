package client

import (
	"context"
	"errors"
	"iter"
	"time"

	"hongbao/web/wire"
)

// NewPacket is a red packet on its way. Amounts are in minor units.
type NewPacket struct {
	Room       string
	Key        string // names this packet for ever; "": one is drawn, and Commitment with it
	Mode       string // lucky, equal; "": lucky
	Spread     string // calm, classic, wild; "": classic
	Total      int64
	Count      int // 0: one for each in To
	Greeting   string
	To         []string      // only they may grab; nil: everyone in the room
	Passphrase string        // "": none is asked
	TTL        time.Duration // whole seconds; 0: the server's
	Commitment string        // to the seed that the server must use
}

// SentPacket says what has been sent. Dup: it was there already.
type SentPacket struct {
	Packet  Packet
	Seq     int64
	At      time.Time
	Balance int64
	Dup     bool
}

// SendPacket sends a red packet, once. Without a key it asks for the seed that the server had committed to
// before it could know the key; where another device has used that one up, a new key and the next seed are
// taken. With a key of one's own, what is given is sent, and a conflict comes back.
func (c *Client) SendPacket(ctx context.Context, p NewPacket) (SentPacket, error) {
	if p.Key != "" {
		return c.sendPacket(ctx, p)
	}
	if _, err := c.Ready(ctx); err != nil {
		return SentPacket{}, err
	}
	for {
		p.Key, p.Commitment = newKey(), c.Account().NextCommitment
		sent, err := c.sendPacket(ctx, p)
		var refused *Error
		if errors.As(err, &refused) && refused.Repeated && errors.Is(err, ErrConflict) {
			// It may be our own try without an answer that has used the seed. Then it is committed by now.
			sent, err = c.sendPacket(ctx, p)
		}
		if !errors.As(err, &refused) || !errors.Is(err, ErrConflict) || refused.Values["next_commitment"] == "" {
			return sent, err
		}
		c.note(func(a *Account) { a.NextCommitment = refused.Values["next_commitment"] })
	}
}

func (c *Client) sendPacket(ctx context.Context, p NewPacket) (SentPacket, error) {
	request := wire.SendPacketRequest{
		Room: p.Room, Key: p.Key, Mode: p.Mode, Spread: p.Spread, Total: p.Total, Greeting: p.Greeting,
		To: p.To, Passphrase: p.Passphrase, Commitment: p.Commitment,
	}
	if p.Count != 0 {
		request.Count = &p.Count
	}
	if p.TTL != 0 {
		seconds := int64((p.TTL + time.Second - 1) / time.Second)
		request.TTLS = &seconds
	}
	var reply wire.SendPacketReply
	if err := c.Call(ctx, "send_packet", request, &reply); err != nil {
		return SentPacket{}, err
	}
	c.note(func(a *Account) { a.Balance, a.NextCommitment = reply.Balance, reply.NextCommitment })
	return SentPacket{Packet: packetOf(reply.Packet), Seq: reply.Seq, At: timeOf(reply.At), Balance: reply.Balance, Dup: reply.Dup}, nil
}

// PacketInfo is a packet as it stands. Proof is there when it is done.
type PacketInfo struct {
	Packet Packet
	State  State
	Proof  *Proof
}

// Packet reads how a packet stands.
func (c *Client) Packet(ctx context.Context, packet string) (PacketInfo, error) {
	var reply wire.PacketReply
	err := c.Call(ctx, "packet", wire.PacketRequest{Packet: packet, Limit: 1}, &reply)
	return PacketInfo{Packet: packetOf(reply.Packet), State: stateOf(reply.State), Proof: reply.Proof}, err
}

// Claim is a share that somebody has. Amount is 0 where one may not see it.
type Claim struct {
	User   User
	Rank   int
	At     time.Time
	Amount int64
}

// Claims goes through who has grabbed, in order of rank.
func (c *Client) Claims(ctx context.Context, packet string) iter.Seq2[Claim, error] {
	return func(yield func(Claim, error) bool) {
		for rank, more := 0, true; more; {
			var reply wire.PacketReply
			if err := c.Call(ctx, "packet", wire.PacketRequest{Packet: packet, AfterRank: rank, Limit: pageLimit}, &reply); err != nil {
				yield(Claim{}, err)
				return
			}
			for _, w := range reply.Claims {
				rank = w.Rank
				if !yield(Claim{User: w.User, Rank: w.Rank, At: timeOf(w.At), Amount: w.Amount}, nil) {
					return
				}
			}
			more = reply.More
		}
	}
}

// CancelPacket takes back one's own packet that nobody has grabbed from yet.
func (c *Client) CancelPacket(ctx context.Context, packet string) (State, error) {
	var reply wire.CancelPacketReply
	err := c.Call(ctx, "cancel_packet", wire.CancelPacketRequest{Packet: packet}, &reply)
	if err == nil {
		c.note(func(a *Account) { a.Balance = reply.Balance })
	}
	return stateOf(reply.State), err
}
