package web

import (
	"encoding/json"
	"fmt"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// mapped converts a list. It is never nil: an empty list is [] on the wire.
func mapped[From, To any](list []From, convert func(From) To) []To {
	out := make([]To, len(list))
	for i, item := range list {
		out[i] = convert(item)
	}
	return out
}

// millis is a time on the wire; the zero time is 0, which optional fields leave out.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromMillis is the time of an optional field; the zero time when it was left out.
func fromMillis(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms)
}

// userTopic is the hub's topic of all sockets of a user.
func userTopic(user string) string { return "user:" + user }

func wireUser(u chat.User) wire.User { return wire.User(u) }

func wireRoom(r chat.Room) wire.Room {
	return wire.Room{
		ID: r.ID, Name: r.Name, Kind: string(r.Kind), Announcement: r.Announcement,
		Members: r.Members, LastSeq: r.LastSeq, CreatedAt: millis(r.CreatedAt),
	}
}

// wireMembership is a room with the role of one of its members.
func wireMembership(m chat.Membership) wire.Room {
	r := wireRoom(m.Room)
	r.Role = string(m.Role)
	return r
}

func wireMyRoom(m chat.Membership) wire.MyRoom {
	return wire.MyRoom{Room: wireMembership(m), ReadSeq: m.ReadSeq, Unread: m.Unread}
}

func wireMember(m chat.Member) wire.Member {
	return wire.Member{User: wireUser(m.User), Role: string(m.Role), MutedUntil: millis(m.MutedUntil)}
}

func wireEntry(e chat.Entry) wire.Entry {
	return wire.Entry{
		Seq: e.Seq, ID: e.ID, At: millis(e.At), From: wireUser(e.From), Kind: string(e.Kind), Key: e.Key, Body: e.Body,
	}
}

// packetOf is the id of the packet that a packet entry is about.
func packetOf(e chat.Entry) (string, error) {
	var body struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return "", fmt.Errorf("packet entry %s: %w", e.ID, err)
	}
	return body.ID, nil
}

func wirePacket(p redpacket.Packet) wire.Packet {
	return wire.Packet{
		ID: p.ID, Room: p.Room, From: wireUser(p.From), Mode: string(p.Mode), Spread: string(p.Spread),
		Total: int64(p.Total), Count: p.Count, Greeting: p.Greeting, To: p.To, Locked: p.Passphrase != "",
		CreatedAt: millis(p.CreatedAt), ExpiresAt: millis(p.ExpiresAt), Commitment: p.Commitment, Key: p.Key,
	}
}

func wireState(s redpacket.State) wire.State {
	out := wire.State{Packet: s.Packet, Status: string(s.Status), Claimed: s.Claimed, Refunded: int64(s.Refunded)}
	if m := s.Mine; m != nil {
		out.Mine = &wire.Mine{Amount: int64(m.Amount), Rank: m.Rank(), At: millis(m.At)}
	}
	if l := s.Luckiest; l != nil {
		out.Luckiest = &wire.Luckiest{User: l.User.ID, Amount: int64(l.Amount), Rank: l.Rank()}
	}
	return out
}

func wirePacketState(p redpacket.PacketState) wire.PacketState {
	return wire.PacketState{Packet: wirePacket(p.Packet), State: wireState(p.State)}
}

func wireResult(r redpacket.Result) wire.GrabReply {
	return wire.GrabReply{
		Packet: r.Packet, Outcome: string(r.Outcome),
		Amount: int64(r.Amount), Rank: r.Rank, At: millis(r.At), Balance: (*int64)(r.Balance),
		Claimed: r.Claimed, Count: r.Count,
	}
}

// wireClaims shows one's own amount always, those of others only where the packet says so.
func wireClaims(d redpacket.Details, user string) []wire.Claim {
	return mapped(d.Claims, func(p redpacket.Paid) wire.Claim {
		c := wire.Claim{User: wireUser(p.User), Rank: p.Rank(), At: millis(p.At)}
		if d.ShowAmounts || p.User.ID == user {
			c.Amount = int64(p.Amount)
		}
		return c
	})
}

func wireProof(p *redpacket.Proof) *wire.Proof {
	if p == nil {
		return nil
	}
	return &wire.Proof{
		Seed: p.Seed, Commitment: p.Commitment,
		Shares: mapped(p.Shares, func(m redpacket.Money) int64 { return int64(m) }),
	}
}

func wireTransfer(t redpacket.Transfer) wire.Transfer {
	return wire.Transfer{
		ID: t.ID, At: millis(t.At), Amount: int64(t.Amount), Kind: string(t.Kind), Packet: t.Packet, Note: t.Note,
	}
}
