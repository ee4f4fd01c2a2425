package redpacket

import (
	"time"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/redpacket/proof"
)

// Money is an amount in minor units (fen, cents).
type Money int64

// MaxMoney is the largest amount: up to it, JavaScript reads each JSON number exactly. Credits that would take the money in
// circulation over it are refused, so no wallet exceeds it either.
const MaxMoney Money = 1<<53 - 1

// Mode says how the total is split into shares.
type Mode string

// Lucky shares are random. Equal shares differ from each other by at most 1.
const (
	Lucky Mode = proof.Lucky
	Equal Mode = proof.Equal
)

// Spread says how much the shares of a lucky packet vary. It is empty for equal shares.
type Spread string

// The three spreads. Of ten lucky shares, the largest is on average about 1.5, 2.1 and 2.9 times the mean.
const (
	Calm    Spread = proof.Calm
	Classic Spread = proof.Classic
	Wild    Spread = proof.Wild
)

// Skin is the drawing on the envelope of a packet. It is empty for the plain envelope.
type Skin string

// The skins. A client draws a skin that it does not know as the plain envelope.
const (
	Cloud   Skin = "cloud"
	Koi     Skin = "koi"
	Plum    Skin = "plum"
	Lantern Skin = "lantern"
	Moon    Skin = "moon"
)

// Skins lists the skins that every client may know. A host may bring others, see Limits.Skins.
func Skins() []Skin { return []Skin{Cloud, Koi, Plum, Lantern, Moon} }

// Status is the state of a packet. Every status but Open is final.
type Status string

// The statuses. A packet with all its shares claimed ends as Drained, whatever has closed it. A packet that is closed early,
// for example because its room is deleted, ends as Expired if a share is left.
const (
	Open      Status = "open"
	Drained   Status = "drained"
	Expired   Status = "expired"
	Cancelled Status = "cancelled"
)

// Rest says what becomes of the shares of a draw for which there are no participants. It is empty if the packet is no draw.
type Rest string

// RestRefund refunds them. RestShare cuts the total anew, into one share for each participant.
const (
	RestRefund Rest = "refund"
	RestShare  Rest = "share"
)

// Ref names a packet and the partition of the Pool that holds it. A packet's partition never changes.
type Ref struct {
	ID        string
	Partition int
}

// NoPartition is the partition of draws: the Pool has no part in them.
const NoPartition = -1

// IsDraw reports whether the packet is a draw.
func (r Ref) IsDraw() bool { return r.Partition == NoPartition }

// Partitions is the number of partitions over which packets are spread. The number of a packet's partition is stored
// with the packet.
const Partitions = 64

// Packet is the part of a packet that never changes. Every member may know all of it, except the passphrase,
// and for whom shares are held.
type Packet struct {
	Ref
	Room       string
	From       chat.User
	Mode       Mode
	Spread     Spread
	Total      Money
	Count      int
	Greeting   string
	To         []string // only these users may grab; empty: every member
	Passphrase string   // the server never sends it to any client
	CreatedAt  time.Time
	ExpiresAt  time.Time
	Commitment string // hex SHA-256 of the seed
	Key        string
	Seq        int64 // of its entry in the room

	EarlierMembers bool // only earlier members may grab: users that have been members since before Seq
	OnePerPerson   bool // it pays at most one share to each person: see persons.go
	Skin           Skin

	OpensAt time.Time // no user gets a share, or enters a draw, before it; zero: it is open once it is sent

	Hold Hold // the server never sends Hold.For to any client

	Window time.Duration // of a draw: how long users can enter; it ends at ExpiresAt. 0: first come, first served
	Rest   Rest
	Rain   Rain // the zero value: the packet is no rain
}

// Claim is a share that a user was granted. Ledger.Settle pays its amount into the user's wallet, or refuses the claim.
type Claim struct {
	Ref
	Share int
	Wave  int // see Grant
	User  string
	At    time.Time
	Entry string // the outbox entry that holds the claim until it is acked; empty: none, or not known
	Taken int    // of a grab: shares that were taken then, as the Pool knew it; 0: not known
}

// Grant is a share that the Pool or a draw has given to a user.
type Grant struct {
	User  string
	Share int
	Wave  int // of a rain: in which the user has won it. A user wins at most one share in a wave
}

// Paid is a claim as SQL holds it.
type Paid struct {
	Share  int
	Wave   int // of a rain: in which it was won
	User   chat.User
	Amount Money
	At     time.Time
}

// Rank is the position in the order of claims, from 1.
func (p Paid) Rank() int { return p.Share + 1 }

// Book is one packet with its state and all its claims, as SQL holds them.
type Book struct {
	Packet   Packet
	Status   Status
	Claims   []Paid // ordered by share
	Refunded Money
	Seed     Seed
	Shares   []Money
	Draw     *Drawn // of a draw in which entering has ended
}

// EndStatus returns the status with which the packet ends for the reason. It is Drained if all its shares are claimed, whatever the reason.
func (b *Book) EndStatus(reason Status) Status {
	switch {
	case len(b.Claims) == len(b.Shares):
		return Drained
	case reason == Cancelled:
		return Cancelled
	}
	return Expired
}

// State is a packet's state as one user may see it.
type State struct {
	Packet   string
	Status   Status
	Claimed  int
	Mine     *Paid
	Luckiest *Paid // the claim with the largest amount; nil unless a lucky packet of two or more shares has ended with a claim
	Refunded Money
	Draw     *DrawState // nil: the packet is no draw
	Rain     *RainState // nil: the packet is no rain
}

// pageBytes bounds a page of packets, so that a reply stays under 1 MiB.
const pageBytes = 768 << 10

// Fitting returns how many packets, counted from the first one, fit on one page of at most limit packets. The first packet
// always counts as fitting, even if it is too large.
func Fitting(packets []PacketState, limit int) int {
	size := 0
	for i, p := range packets {
		size += p.Packet.wireBytes()
		if i == limit || i > 0 && size > pageBytes {
			return i
		}
	}
	return len(packets)
}

// wireBytes returns an upper bound of the number of bytes that the packet and its state take in a reply.
func (p Packet) wireBytes() int {
	size := 1 << 10 // numbers, ids and field names
	for _, user := range p.To {
		size += len(user) + len(`"",`) // the id of a user has no character that needs an escape
	}
	for _, text := range []string{p.Greeting, p.From.Name, p.From.Avatar} {
		size += utf8.RuneCountInString(text) * len(`\u0001`) // the longest encoding of a character
	}
	return size
}
