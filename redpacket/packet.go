package redpacket

import (
	"time"

	"hongbao/chat"
)

// Money is an amount in minor units (fen, cents).
type Money int64

// Mode says how a packet is cut.
type Mode string

// Lucky shares are random, equal ones differ by at most 1.
const (
	Lucky Mode = "lucky"
	Equal Mode = "equal"
)

// Spread says how wild lucky shares are; it is empty for equal ones.
type Spread string

// The three spreads: the best of ten gets about 1.5, 2.1 and 2.9 times the mean.
const (
	Calm    Spread = "calm"
	Classic Spread = "classic"
	Wild    Spread = "wild"
)

// Status of a packet. All but open are final.
type Status string

// The statuses; each but Open is also the reason of its end.
const (
	Open      Status = "open"
	Drained   Status = "drained"
	Expired   Status = "expired"
	Cancelled Status = "cancelled"
)

// Ref names a packet and the partition of the Pool that it lives in for ever.
type Ref struct {
	ID        string
	Partition int
}

// Partitions is how many partitions packets are spread over; a packet's own is stored with it.
const Partitions = 64

// Packet is what everyone may know of a packet. It never changes.
type Packet struct {
	Ref
	Room       string
	From       chat.User
	Mode       Mode
	Spread     Spread
	Total      Money
	Count      int
	Greeting   string
	To         []string // only these may grab; empty: every member
	Passphrase string   // never leaves the server
	CreatedAt  time.Time
	ExpiresAt  time.Time
	Commitment string // hex SHA-256 of the seed
	Key        string
}

// Claim is a share on its way to, or in, a user's wallet.
type Claim struct {
	Ref
	Share int
	User  string
	At    time.Time
	Entry string // the outbox entry that remembers it until it is settled; empty: none
}

// Grant is a share that the Pool gave to a user.
type Grant struct {
	User  string
	Share int
}

// Paid is a claim as SQL holds it.
type Paid struct {
	Share  int
	User   chat.User
	Amount Money
	At     time.Time
}

// Rank is the place in the queue, from 1.
func (p Paid) Rank() int { return p.Share + 1 }

// Book is all that SQL knows of one packet.
type Book struct {
	Packet   Packet
	Status   Status
	Claims   []Paid // by share
	Refunded Money
	Seed     Seed
	Shares   []Money
}

// State is a packet's state as one user may see it.
type State struct {
	Packet   string
	Status   Status
	Claimed  int
	Mine     *Paid
	Luckiest *Paid // lucky, count >= 2, done and claimed at all
	Refunded Money
}
