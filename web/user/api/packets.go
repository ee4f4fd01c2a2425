package api

import (
	"cmp"
	"context"
	"math"
	"time"

	"hongbao/redpacket"
	"hongbao/redpacket/proof"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

func (a *Commands) sendPacket(ctx context.Context, c Caller, r *wire.SendPacketRequest) (wire.SendPacketReply, error) {
	if err := a.rates.spendBudget(ctx, c, count(r.Count)/sharesPerCost); err != nil {
		return wire.SendPacketReply{}, err
	}
	request := redpacket.SendRequest{
		Room: r.Room, Key: r.Key, Mode: redpacket.Mode(r.Mode), Spread: redpacket.Spread(r.Spread),
		Total: redpacket.Money(r.Total), Count: count(r.Count), Greeting: r.Greeting, To: r.To, Passphrase: r.Passphrase,
		TTL: ttl(r.TTLS), Commitment: r.Commitment, EarlierMembers: r.EarlierMembers, OnePerPerson: r.OnePerPerson, Skin: redpacket.Skin(r.Skin),
		OpensAt: convert.FromMillis(r.OpensAt), HoldFor: r.HoldFor, HoldAway: r.HoldAway, HoldTime: window(r.HoldS), Window: window(r.WindowS), Rest: redpacket.Rest(r.Rest),
		Rain: redpacket.Rain{Waves: count(r.Waves), MaxWins: count(r.MaxWins)}, Over: window(r.OverS),
	}
	if err := a.askSendPacket(ctx, c, &request, r); err != nil {
		return wire.SendPacketReply{}, err
	}
	if err := a.checkGreeting(ctx, c, &request); err != nil {
		return wire.SendPacketReply{}, err
	}
	sent, err := a.packets.Send(ctx, c.User, request)
	return wire.SendPacketReply{
		Packet: convert.Packet(sent.Packet), Seq: sent.Entry.Seq, At: convert.Millis(sent.Entry.At),
		Balance: int64(sent.Account.Balance), AccountVersion: sent.Account.Version, NextCommitment: sent.Account.NextCommitment, Dup: sent.Dup,
	}, err
}

// checkGreeting applies the rules of texts to the greeting of a packet, unless the packet was sent before.
func (a *Commands) checkGreeting(ctx context.Context, c Caller, r *redpacket.SendRequest) error {
	greeting := r.Greeting
	if r.Replaced != nil {
		greeting = *r.Replaced
	}
	against := a.chat.CheckWords(ctx, c.User, r.Room, greeting)
	if against == nil {
		return nil
	}
	used, err := a.packets.KeyUsed(ctx, c.User.ID, r.Key)
	if err != nil || used {
		return err
	}
	return against
}

// count returns the number of shares, waves or wins that a request asks for. A missing number becomes 0, for which the service uses its
// default: of shares the number of recipients, if any are named. An explicit 0 becomes -1, which the service refuses.
func count(asked *int) int {
	switch {
	case asked == nil:
		return 0
	case *asked == 0:
		return -1
	}
	return *asked
}

// ttl returns the lifetime that a request asks for. A missing lifetime becomes 0, for which the service uses its
// default. A number below 1 becomes negative, and a number beyond the range of a Duration becomes the longest one; the
// service refuses both.
func ttl(seconds *int64) time.Duration {
	switch {
	case seconds == nil:
		return 0
	case *seconds <= 0:
		return -1
	}
	return time.Duration(min(*seconds, math.MaxInt64/int64(time.Second))) * time.Second
}

// window returns the window that a request asks for; 0: none. A number that no window has becomes one that the service refuses.
func window(seconds *int64) time.Duration {
	if seconds == nil {
		return 0
	}
	return ttl(seconds)
}

func (a *Commands) packet(ctx context.Context, c Caller, r *wire.PacketRequest) (wire.PacketReply, error) {
	d, err := a.packets.Details(ctx, c.User.ID, r.Packet, r.AfterRank, pageSize(r.Limit))
	if err != nil {
		return wire.PacketReply{}, err
	}
	return wire.PacketReply{
		Packet: convert.Packet(d.Packet), State: convert.State(d.State), Claims: convert.Claims(d, c.User.ID), More: d.More,
		Proof: convert.Proof(d.Proof),
	}, nil
}

// ReceiptKeys returns the public keys of receipts.
func (a *Commands) ReceiptKeys() []string { return a.packets.ReceiptKeys() }

// Proof returns the proof of a finished packet.
func (a *Commands) Proof(ctx context.Context, c Caller, packet string) (proof.Document, error) {
	return a.packets.Document(ctx, c.User.ID, packet)
}

func (a *Commands) cancelPacket(ctx context.Context, c Caller, r *wire.CancelPacketRequest) (wire.CancelPacketReply, error) {
	state, account, err := a.packets.Cancel(ctx, c.User.ID, r.Packet)
	return wire.CancelPacketReply{State: convert.State(state), Balance: int64(account.Balance), AccountVersion: account.Version}, err
}

func (a *Commands) listPackets(ctx context.Context, c Caller, r *wire.PacketsRequest) (wire.PacketsReply, error) {
	direction := redpacket.Direction(r.Direction)
	if direction.OfRoom() {
		direction = "" // of a room, the user has room_packets
	}
	q := redpacket.PacketsQuery{
		Of: c.User.ID, Direction: direction,
		From: convert.FromMillis(r.From), To: convert.FromMillis(r.To), Next: r.Next, Limit: pageSize(r.Limit),
	}
	if r.UTCOffsetMin != nil {
		q.Days, q.Ahead = true, time.Duration(min(*r.UTCOffsetMin, farAhead))*time.Minute
	}
	page, err := a.packets.Packets(ctx, q)
	return wire.PacketsReply{Packets: convert.List(page.Packets, convert.PacketState), Totals: convert.Totals(page.Totals), Next: page.Next}, err
}

const farAhead = 10_000 // minutes: no clock is so far ahead of UTC, and more could overflow

func (a *Commands) roomPackets(ctx context.Context, c Caller, r *wire.RoomPacketsRequest) (wire.RoomPacketsReply, error) {
	packets, next, err := a.packets.OfRoom(ctx, c.User.ID, r.Room, redpacket.Part(r.Part), r.Next, pageSize(r.Limit))
	return wire.RoomPacketsReply{Packets: convert.List(packets, convert.PacketState), Next: next}, err
}

// Sizes of a page of packets, claims or transfers.
const (
	pageDefault = 50 // used if the request gives no limit
	pageMax     = 100
)

func pageSize(asked int) int { return min(cmp.Or(asked, pageDefault), pageMax) }

func (a *Commands) wallet(ctx context.Context, c Caller, r *wire.WalletRequest) (wire.WalletReply, error) {
	account, err := a.packets.Account(ctx, c.User.ID)
	if err != nil {
		return wire.WalletReply{}, err
	}
	limits, err := a.dayLimits(ctx, c.User.ID)
	if err != nil {
		return wire.WalletReply{}, err
	}
	transfers, next, err := a.packets.Transfers(ctx, c.User.ID, r.Next, pageSize(r.Limit))
	return wire.WalletReply{
		Balance: int64(account.Balance), AccountVersion: account.Version, NextCommitment: account.NextCommitment, Limits: limits,
		Transfers: convert.List(transfers, func(t redpacket.LedgerTransfer) wire.Transfer { return convert.Transfer(t.Transfer) }), Next: next,
	}, err
}

func (a *Commands) setOwnLimits(ctx context.Context, c Caller, r *wire.SetOwnLimitsRequest) (wire.SetOwnLimitsReply, error) {
	if err := a.packets.SetSelfLimits(ctx, c.User.ID, redpacket.SelfLimitsChange{Sent: r.Sent, Received: r.Received}); err != nil {
		return wire.SetOwnLimitsReply{}, err
	}
	limits, err := a.dayLimits(ctx, c.User.ID)
	return wire.SetOwnLimitsReply{Limits: limits}, err
}

// dayLimits returns what the user has sent and received today, and may.
func (a *Commands) dayLimits(ctx context.Context, user string) (wire.DayLimits, error) {
	used, _, err := a.packets.Today(ctx, user)
	if err != nil {
		return wire.DayLimits{}, err
	}
	sent, received, _ := a.packets.LimitsOf(used)
	return wire.DayLimits{
		Sent: convert.DayLimit(used.Sent, sent, used.Self.Sent), Received: convert.DayLimit(used.Received, received, used.Self.Received),
	}, nil
}
