package model

import (
	"cmp"
	"time"

	"hongbao/web/wire"
)

// Types that are the same as those of package wire.
type (
	// User is a user as other users see them.
	User = wire.User
	// Currency describes the unit of money: amounts are in units of 10^-Exponent of the currency.
	Currency = wire.Currency
	// Limits holds the limits that the server enforces.
	Limits = wire.Limits
	// Luckiest is the largest share that a user has won of a finished lucky packet of two or more shares, and that user.
	Luckiest = wire.Luckiest
	// Proof lets a client check that the shares of a packet were computed from a seed to which the server had committed
	// before the packet was sent.
	Proof = wire.Proof
	// Totals sums up the packets of a period: their number, their amount, and how often the user had the largest share.
	Totals = wire.Totals
)

// Room is a room as the client's user sees it.
type Room struct {
	ID           string
	Name         string
	Kind         string // public, private or direct
	Announcement string
	Invite       string // which members may invite users: members or admins; "" in a direct room
	Guests       bool   // guests may enter
	Packets      bool   // users may send packets
	Frozen       bool   // only the system may post
	Members      int
	LastSeq      int64
	Created      time.Time
	Role         string    // the user's own role, if known: owner, admin or member
	Silent       bool      // set by the user: new entries make no sound, banner, badge or notification
	SilentUntil  time.Time // Silent ends then, and no event says so; zero: it does not
	Pinned       bool      // set by the user: the room is at the top of the list
	Archived     bool      // set by the user: the room is not in the list; if it is not silent without an end, only until the next text or packet
}

// RoomOf reads a room.
func RoomOf(r wire.Room) Room {
	usual := map[string]string{"public": "members", "private": "admins"}[r.Kind]
	return Room{
		ID: r.ID, Name: r.Name, Kind: r.Kind, Announcement: r.Announcement, Members: r.Members,
		Invite: cmp.Or(r.Invite, usual), Guests: r.Guests == nil || *r.Guests, Packets: r.Packets == nil || *r.Packets, Frozen: r.Frozen, LastSeq: r.LastSeq, Created: TimeOf(r.CreatedAt), Role: r.Role,
		Silent: r.Silent, SilentUntil: TimeOf(r.SilentUntil), Pinned: r.Pinned, Archived: r.Archived,
	}
}

// MyRoom is a room that the user is in.
type MyRoom struct {
	Room

	ReadSeq int64 // up to which seq the user has read
	Unread  int64 // number of unread entries at the last connect; 0 if the user has entered the room since
}

// Member is one member of a room.
type Member struct {
	User       User
	Role       string
	Online     bool
	MutedUntil time.Time // zero: not muted
	ReadSeq    int64     // how far the member has read; 0: nothing since joining, or the room is large
}

// Link is an invite link of a room, without its code.
type Link struct {
	ID      string
	By      User // the creator
	Created time.Time
	Expires time.Time
	Uses    int
	MaxUses int // 0: any number

	Approval bool // the owner or an admin must let in each user that follows the link
}

// JoinRequest is a user that asks to enter a room.
type JoinRequest struct {
	User User
	At   time.Time
}

// LinkOf reads an invite link.
func LinkOf(l wire.Link) Link {
	return Link{ID: l.ID, By: l.By, Created: TimeOf(l.CreatedAt), Expires: TimeOf(l.ExpiresAt), Uses: l.Uses, MaxUses: l.MaxUses, Approval: l.Approval}
}

// Packet is the part of a packet that never changes. Amounts are in minor currency units.
type Packet struct {
	ID         string
	Room       string
	From       User
	Mode       string // lucky or equal
	Spread     string // calm, classic or wild; "" for equal
	Total      int64
	Count      int
	Greeting   string
	To         []string // user ids; nil: all members of the room
	Locked     bool     // a passphrase is required
	Created    time.Time
	Expires    time.Time
	Commitment string
	Key        string

	EarlierMembers bool   // only users that have been members since before the packet was sent may grab
	OnePerPerson   bool   // at most one share for each person, whatever number of accounts the person has
	Skin           string // cloud, koi, plum, lantern, moon or one that the host brings; "": the plain envelope

	Opens time.Time // grabs before it are refused with ErrNotYet; zero: the packet is open once it is sent

	Held      int // shares that are held for some users, until HeldUntil
	HeldUntil time.Time

	Window time.Duration // of a draw: users can enter for so long, until Expires; 0: first come, first served
	Rest   string        // of a draw: refund or share

	Waves   int           // of a rain: the shares come up in so many waves; 0: the packet is no rain
	Over    time.Duration // of a rain: the waves come within so long, until Expires
	MaxWins int           // of a rain: waves that one user may win
}

// PacketOf reads the part of a packet that never changes.
func PacketOf(p wire.Packet) Packet {
	packet := Packet{
		ID: p.ID, Room: p.Room, From: p.From, Mode: p.Mode, Spread: p.Spread, Total: p.Total, Count: p.Count,
		Greeting: p.Greeting, To: p.To, Locked: p.Locked, Created: TimeOf(p.CreatedAt), Expires: TimeOf(p.ExpiresAt),
		Commitment: p.Commitment, Key: p.Key, EarlierMembers: p.EarlierMembers, OnePerPerson: p.OnePerPerson, Skin: p.Skin,
		Window: time.Duration(p.WindowS) * time.Second, Rest: p.Rest,
		Waves: p.Waves, Over: time.Duration(p.OverS) * time.Second, MaxWins: p.MaxWins,
	}
	if p.OpensAt != 0 {
		packet.Opens = TimeOf(p.OpensAt)
	}
	if p.Held != 0 {
		packet.Held, packet.HeldUntil = p.Held, TimeOf(p.HeldUntil)
	}
	return packet
}

// State is the changing part of a packet, as the user may see it.
type State struct {
	Packet   string // id
	Status   string // open, drained, expired or cancelled
	Claimed  int
	Mine     *Share
	Luckiest *Luckiest
	Refunded int64
	Draw     *Draw      // nil: the packet is no draw
	Rain     *RainState // nil: the packet is no rain
}

// RainState is the state of a rain.
type RainState = wire.RainState

// Draw is the state of a draw. Root is set when it has ended, and Receipt if the user has entered.
type Draw = wire.Draw

// Receipt is the server's word that a user takes part in a draw. Keep it: package proof checks it against the draw.
type Receipt = wire.Receipt

// Share is the share of a packet that the user has won.
type Share struct {
	Amount int64
	Rank   int
	At     time.Time
}

// StateOf reads the changing part of a packet.
func StateOf(s wire.State) State {
	out := State{Packet: s.Packet, Status: s.Status, Claimed: s.Claimed, Luckiest: s.Luckiest, Refunded: s.Refunded, Draw: s.Draw, Rain: s.Rain}
	if s.Mine != nil {
		out.Mine = &Share{Amount: s.Mine.Amount, Rank: s.Mine.Rank, At: TimeOf(s.Mine.At)}
	}
	return out
}

// TimeOf converts a time in Unix milliseconds; 0 becomes the zero time.
func TimeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
