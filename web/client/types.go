package client

import (
	"time"

	"hongbao/web/wire"
)

// Objects that are on the wire as they are here.
type (
	// User is a person.
	User = wire.User
	// Currency says what one unit of money is: amounts are in units of 10^-Exponent.
	Currency = wire.Currency
	// Limits are what the server refuses to exceed.
	Limits = wire.Limits
	// Luckiest is the largest share of a finished lucky packet.
	Luckiest = wire.Luckiest
	// Proof shows that the shares of a packet follow from a seed which was committed to before.
	Proof = wire.Proof
	// Totals of a period: how many packets, how much, and how often one was the luckiest.
	Totals = wire.Totals
)

// Account is one's money, in minor units.
type Account struct {
	Balance        int64
	Currency       Currency
	NextCommitment string // to the seed of the next packet one sends
}

// Room is a room as everyone sees it.
type Room struct {
	ID           string
	Name         string
	Kind         string // public, private, direct
	Announcement string
	Members      int
	LastSeq      int64
	Created      time.Time
	Role         string // one's own, where known: owner, admin, member
}

func roomOf(r wire.Room) Room {
	return Room{
		ID: r.ID, Name: r.Name, Kind: r.Kind, Announcement: r.Announcement, Members: r.Members,
		LastSeq: r.LastSeq, Created: timeOf(r.CreatedAt), Role: r.Role,
	}
}

// MyRoom is a room that one is in.
type MyRoom struct {
	Room

	ReadSeq int64 // how far one has read, as of when the client last connected
	Unread  int64 // the same
}

// Member is somebody who is in a room.
type Member struct {
	User       User
	Role       string
	Online     bool
	MutedUntil time.Time // zero: not muted
}

// Packet is what never changes about a packet. Amounts are in minor units.
type Packet struct {
	ID         string
	Room       string
	From       User
	Mode       string // lucky, equal
	Spread     string // calm, classic, wild; "" for equal
	Total      int64
	Count      int
	Greeting   string
	To         []string // user ids; nil: everyone in the room
	Locked     bool     // a passphrase is asked
	Created    time.Time
	Expires    time.Time
	Commitment string
	Key        string
}

func packetOf(p wire.Packet) Packet {
	return Packet{
		ID: p.ID, Room: p.Room, From: p.From, Mode: p.Mode, Spread: p.Spread, Total: p.Total, Count: p.Count,
		Greeting: p.Greeting, To: p.To, Locked: p.Locked, Created: timeOf(p.CreatedAt), Expires: timeOf(p.ExpiresAt),
		Commitment: p.Commitment, Key: p.Key,
	}
}

// State is how a packet stands, as one may see it.
type State struct {
	Packet   string // id
	Status   string // open, drained, expired, cancelled
	Claimed  int
	Mine     *Share
	Luckiest *Luckiest
	Refunded int64
}

// Share is one's own part of a packet.
type Share struct {
	Amount int64
	Rank   int
	At     time.Time
}

func stateOf(s wire.State) State {
	out := State{Packet: s.Packet, Status: s.Status, Claimed: s.Claimed, Luckiest: s.Luckiest, Refunded: s.Refunded}
	if s.Mine != nil {
		out.Mine = &Share{Amount: s.Mine.Amount, Rank: s.Mine.Rank, At: timeOf(s.Mine.At)}
	}
	return out
}

// timeOf is a time of the wire; what was left out is the zero time.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// mapped converts a list.
func mapped[From, To any](list []From, convert func(From) To) []To {
	out := make([]To, len(list))
	for i, item := range list {
		out[i] = convert(item)
	}
	return out
}
