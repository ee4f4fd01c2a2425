package convert

import (
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// Packet converts the part of a packet that never changes.
func Packet(p redpacket.Packet) wire.Packet {
	return wire.Packet{
		ID: p.ID, Room: p.Room, From: User(p.From), Mode: string(p.Mode), Spread: string(p.Spread),
		Total: int64(p.Total), Count: p.Count, Greeting: p.Greeting, To: p.To, Locked: p.Passphrase != "",
		CreatedAt: Millis(p.CreatedAt), ExpiresAt: Millis(p.ExpiresAt), Commitment: p.Commitment, Key: p.Key,
	}
}

// State converts the state of a packet, as one user may see it.
func State(s redpacket.State) wire.State {
	out := wire.State{Packet: s.Packet, Status: string(s.Status), Claimed: s.Claimed, Refunded: int64(s.Refunded)}
	if m := s.Mine; m != nil {
		out.Mine = &wire.Mine{Amount: int64(m.Amount), Rank: m.Rank(), At: Millis(m.At)}
	}
	if l := s.Luckiest; l != nil {
		out.Luckiest = &wire.Luckiest{User: l.User.ID, Amount: int64(l.Amount), Rank: l.Rank()}
	}
	return out
}

// PacketState converts a packet with its state.
func PacketState(p redpacket.PacketState) wire.PacketState {
	return wire.PacketState{Packet: Packet(p.Packet), State: State(p.State)}
}

// GrabReply converts the result of a grab.
func GrabReply(r redpacket.Result) wire.GrabReply {
	reply := wire.GrabReply{
		Packet: r.Packet, Outcome: string(r.Outcome),
		Amount: int64(r.Amount), Rank: r.Rank, At: Millis(r.At),
		Claimed: r.Claimed, Count: r.Count,
	}
	if r.Account != nil {
		reply.Balance, reply.AccountVersion = (*int64)(&r.Account.Balance), r.Account.Version
	}
	return reply
}

// Claims converts the claims of a packet for one user. Amounts of other users are included only if the packet shows
// amounts.
func Claims(d redpacket.Details, user string) []wire.Claim {
	return List(d.Claims, func(p redpacket.Paid) wire.Claim {
		c := wire.Claim{User: User(p.User), Rank: p.Rank(), At: Millis(p.At)}
		if d.ShowAmounts || p.User.ID == user {
			c.Amount = int64(p.Amount)
		}
		return c
	})
}

// Proof converts the proof of a finished packet. nil means that there is none.
func Proof(p *redpacket.Proof) *wire.Proof {
	if p == nil {
		return nil
	}
	return &wire.Proof{
		Seed: p.Seed, Commitment: p.Commitment,
		Shares: List(p.Shares, func(m redpacket.Money) int64 { return int64(m) }),
	}
}

// Transfer converts a transfer to or from a wallet.
func Transfer(t redpacket.Transfer) wire.Transfer {
	return wire.Transfer{
		ID: t.ID, At: Millis(t.At), Amount: int64(t.Amount), Kind: string(t.Kind), Packet: t.Packet, Note: t.Note,
	}
}

// Audit converts the result of checking that the books balance.
func Audit(a redpacket.Audit) wire.AuditReply {
	return wire.AuditReply{
		OK:     len(a.Differences) == 0,
		Funded: int64(a.Funded), InWallets: int64(a.InWallets), InPackets: int64(a.InPackets),
		Wallets: a.Wallets, Packets: a.Packets, OpenPackets: a.OpenPackets, Claims: a.Claims, Transfers: a.Transfers,
		Rooms: a.Rooms, Entries: a.Entries, Quarantined: a.Quarantined,
		Differences: List(a.Differences, func(d redpacket.Difference) wire.Difference { return wire.Difference(d) }),
	}
}

// Heads converts the heads of the hash chains.
func Heads(heads []redpacket.Head) wire.HeadsReply {
	return wire.HeadsReply{Heads: List(heads, redpacket.Head.String)}
}
