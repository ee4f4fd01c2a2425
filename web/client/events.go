package client

import (
	"encoding/json"

	"hongbao/web/wire"
)

// Event is something that has happened: an Entry, Connected, Offline, Entered, Left, Skipped, Typing,
// Presence, Read, Progress, Wallet, GrabResult, MemberCount, or OtherEvent.
type Event interface {
	event()
}

// Connected says that the client is connected, with all it has missed on its way.
type Connected struct {
	Account Account
	Rooms   []MyRoom
	Again   bool // not for the first time
}

// Offline says that the client has lost its connection. It comes back by itself; calls wait meanwhile.
type Offline struct {
	Code   int
	Reason string
}

// Entered says that one is in a room now; its entries follow. Rooms that one is in from the start come with Connected.
type Entered struct {
	Room Room
}

// Left says that one is out of a room.
type Left struct {
	Room   string
	Reason string // left, kicked, banned, deleted; "" when nobody said
}

// Skipped names entries that do not come: those after one seq up to another. They are more than
// Options.MaxMissed, or one was put out of the room before they could be read. After is 0 when the server
// has numbered the room anew, from a backup: what came before may be another thing now.
type Skipped struct {
	Room           string
	After, Through int64
}

// Typing says that somebody is typing.
type Typing struct {
	Room, User string
}

// Presence says that a member of a small room has come online, or gone.
type Presence struct {
	Room, User string
	Online     bool
}

// Read says how far somebody has read: oneself on another device, or others in small rooms.
type Read struct {
	Room, User string
	Seq        int64
}

// Progress says how far a packet is.
type Progress struct {
	Packet, Room   string
	Claimed, Count int
	Latest         []string // user ids, the newest last
}

// Wallet says what has happened to one's money.
type Wallet struct {
	Account Account
	Change  int64  // signed
	Kind    string // credit, debit, send, claim, refund
	Packet  string
}

// GrabResult is the late answer to a grab, of any of one's devices. Grab waits for it by itself.
type GrabResult struct {
	Grab
}

// MemberCount says how many a room has now.
type MemberCount struct {
	Room  string
	Count int
}

// OtherEvent is one that this package does not know.
type OtherEvent struct {
	Raw json.RawMessage
}

func (Entry) event()       {}
func (Connected) event()   {}
func (Offline) event()     {}
func (Entered) event()     {}
func (Left) event()        {}
func (Skipped) event()     {}
func (Typing) event()      {}
func (Presence) event()    {}
func (Read) event()        {}
func (Progress) event()    {}
func (Wallet) event()      {}
func (GrabResult) event()  {}
func (MemberCount) event() {}
func (OtherEvent) event()  {}

// eventOf is what a message tells.
func eventOf(m wire.Message, raw []byte) Event {
	switch {
	case m.Typing != nil:
		return Typing(*m.Typing)
	case m.Presence != nil:
		return Presence(*m.Presence)
	case m.Read != nil:
		return Read(*m.Read)
	case m.PacketProgress != nil:
		return Progress(*m.PacketProgress)
	case m.Wallet != nil:
		w := m.Wallet
		return Wallet{Account: Account{Balance: w.Balance, NextCommitment: w.NextCommitment}, Change: w.Change, Kind: w.Kind, Packet: w.Packet}
	case m.GrabResult != nil:
		return GrabResult{grabOf(*m.GrabResult)}
	case m.Members != nil:
		return MemberCount(*m.Members)
	}
	return OtherEvent{Raw: raw}
}
