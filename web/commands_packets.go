package web

import (
	"cmp"
	"context"
	"math"
	"time"

	"hongbao/redpacket"
	"hongbao/web/wire"
)

func (s *Server) sendPacket(ctx context.Context, c Caller, r *wire.SendPacketRequest) (wire.SendPacketReply, error) {
	sent, err := s.packets.Send(ctx, c.User, redpacket.SendRequest{
		Room: r.Room, Key: r.Key, Mode: redpacket.Mode(r.Mode), Spread: redpacket.Spread(r.Spread),
		Total: redpacket.Money(r.Total), Count: count(r.Count), Greeting: r.Greeting, To: r.To, Passphrase: r.Passphrase,
		TTL: ttl(r.TTLS), Commitment: r.Commitment,
	})
	return wire.SendPacketReply{
		Packet: wirePacket(sent.Packet), Seq: sent.Entry.Seq, At: millis(sent.Entry.At),
		Balance: int64(sent.Account.Balance), NextCommitment: sent.Account.NextCommitment, Dup: sent.Dup,
	}, err
}

// count of a request: 0 stands for as many as may grab, so an explicit 0 becomes the next number that is refused.
func count(asked *int) int {
	switch {
	case asked == nil:
		return 0
	case *asked == 0:
		return -1
	}
	return *asked
}

// ttl of a request: 0 stands for the default, so an explicit 0 becomes the next shorter time that is refused
// too, and seconds that no Duration holds become the longest one, which is refused as well.
func ttl(seconds *int64) time.Duration {
	switch {
	case seconds == nil:
		return 0
	case *seconds <= 0:
		return -1
	}
	return time.Duration(min(*seconds, math.MaxInt64/int64(time.Second))) * time.Second
}

func (s *Server) grab(ctx context.Context, c Caller, r *wire.GrabRequest) (wire.GrabReply, error) {
	result, err := s.packets.Grab(ctx, redpacket.Try{
		User: c.User.ID, Packet: r.Packet, Passphrase: r.Passphrase, Admit: s.rates.admit, Waiter: c.waiter,
	})
	return wireResult(result), err
}

func (s *Server) packet(ctx context.Context, c Caller, r *wire.PacketRequest) (wire.PacketReply, error) {
	d, err := s.packets.Details(ctx, c.User.ID, r.Packet, r.AfterRank, pageSize(r.Limit))
	if err != nil {
		return wire.PacketReply{}, err
	}
	return wire.PacketReply{
		Packet: wirePacket(d.Packet), State: wireState(d.State), Claims: wireClaims(d, c.User.ID), More: d.More,
		Proof: wireProof(d.Proof),
	}, nil
}

func (s *Server) cancelPacket(ctx context.Context, c Caller, r *wire.CancelPacketRequest) (wire.CancelPacketReply, error) {
	state, balance, err := s.packets.Cancel(ctx, c.User.ID, r.Packet)
	return wire.CancelPacketReply{State: wireState(state), Balance: int64(balance)}, err
}

func (s *Server) listPackets(ctx context.Context, c Caller, r *wire.PacketsRequest) (wire.PacketsReply, error) {
	page, err := s.packets.Packets(ctx, redpacket.PacketsQuery{
		User: c.User.ID, Direction: redpacket.Direction(r.Direction),
		From: fromMillis(r.From), To: fromMillis(r.To), Next: r.Next, Limit: pageSize(r.Limit),
	})
	return wire.PacketsReply{
		Packets: mapped(page.Packets, wirePacketState),
		Totals:  wire.Totals{Count: page.Totals.Count, Amount: int64(page.Totals.Amount), Luckiest: page.Totals.Luckiest},
		Next:    page.Next,
	}, err
}

// Pages of lists about money: how many items when nothing is said, and at most.
const (
	pageDefault = 50
	pageMax     = 100
)

func pageSize(asked int) int { return min(cmp.Or(asked, pageDefault), pageMax) }
