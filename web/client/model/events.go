package model

import (
	"encoding/json"
	"time"

	"hongbao/web/wire"
)

// Event is something that has happened: an Entry, Connected, Offline, Entered, Left, Skipped, Typing, Presence, Read,
// ContactsChanged, RoomPrefs, Progress, Wave, Wallet, MemberCount, JoinRequested, JoinRefused, ReportDecided, or OtherEvent.
type Event interface {
	event()
}

// Connected says that the client is connected. Entries that it missed follow as events.
type Connected struct {
	Account Account
	Rooms   []MyRoom
	Again   bool // the client was connected before
}

// Offline says that the client has lost its connection. It reconnects automatically; calls wait until then.
type Offline struct {
	Code   int
	Reason string
}

// Entered says that the user has entered a room; the room's entries follow. Rooms in which the user already is at the
// first connection are part of Connected instead.
type Entered struct {
	Room Room
}

// Left says that the user has left a room or was removed from it.
type Left struct {
	Room   string
	Reason string // left, kicked, banned or deleted; "" if unknown
}

// Skipped names entries of a room that are not returned: After < seq <= Through. There were more than
// client.Options.MaxMissed, or they could not be read, for example because the user was removed first. When the server has
// renumbered the room, after the database lost commits, After is 0: earlier seqs may then name other entries.
type Skipped struct {
	Room           string
	After, Through int64
}

// Typing says that a user is typing.
type Typing struct {
	Room, User string
}

// Presence says that a member of a small room has come online or gone offline.
type Presence struct {
	Room, User string
	Online     bool
}

// Read says up to which seq a user has read. It tells what the client's own user has read, on any device, and in small rooms what
// other members have read.
type Read struct {
	Room, User string
	Seq        int64
}

// ContactsChanged says that the user has changed the contact setting, or has blocked or unblocked another user, on any device.
type ContactsChanged struct {
	Contact string // the new setting: everyone, shared or nobody; "": it has not changed
	User    string // id; "": nobody was blocked or unblocked
	Blocked bool   // whether User is blocked now
}

// RoomPrefs says what the user has decided about a room, on any device.
type RoomPrefs struct {
	Room                     string
	Silent, Pinned, Archived bool // as those of Room
	SilentUntil              time.Time
}

// Progress says how many shares of a packet have been claimed, or how many users have entered a draw.
type Progress struct {
	Packet, Room   string
	Claimed, Count int
	Latest         []string // ids of users with new claims, or that have just entered, at most 5, the newest last
	Participants   int      // of a draw
}

// Wave says that users can enter a wave of a rain until Ends, or, with Result, what has become of it.
type Wave struct {
	Packet, Room string
	Wave         int // from 1
	Ends         time.Time
	Result       *WaveResult
}

// WaveResult is what has become of a wave.
type WaveResult = wire.WaveResult

// Wallet says how the user's balance has changed. Account is the latest known one, which may be newer than the change.
type Wallet struct {
	Account Account
	Change  int64  // added to the balance; negative for a debit
	Kind    string // credit, debit, send, claim or refund
	Packet  string
}

// MemberCount says how many members a room has now.
type MemberCount struct {
	Room  string
	Count int
}

// JoinRequested says how many users ask to enter a room. Only the owner and admins receive it.
type JoinRequested struct {
	Room  string
	Count int
}

// JoinRefused says that the user's request to enter a room was dropped.
type JoinRefused struct {
	Room string
}

// ReportDecided says what the host has decided about a report of the user, or about one that is about the user.
type ReportDecided struct {
	Report wire.OwnReport
}

// SeedMismatch says that a packet has ended with another seed than that of Commitment. The server had named this packet when it refused
// the commitment, so the server has not told the truth.
type SeedMismatch struct {
	Packet     string
	Commitment string
}

// OtherEvent is an event that this package does not know.
type OtherEvent struct {
	Raw json.RawMessage
}

func (Entry) event()           {}
func (Connected) event()       {}
func (Offline) event()         {}
func (Entered) event()         {}
func (Left) event()            {}
func (Skipped) event()         {}
func (Typing) event()          {}
func (Presence) event()        {}
func (Read) event()            {}
func (ContactsChanged) event() {}
func (RoomPrefs) event()       {}
func (Progress) event()        {}
func (Wave) event()            {}
func (Wallet) event()          {}
func (MemberCount) event()     {}
func (JoinRequested) event()   {}
func (JoinRefused) event()     {}
func (ReportDecided) event()   {}
func (SeedMismatch) event()    {}
func (OtherEvent) event()      {}

// EventOf converts a message of package wire into an event. raw is kept for an unknown message.
func EventOf(m wire.Message, raw []byte) Event {
	switch {
	case m.Typing != nil:
		return Typing(*m.Typing)
	case m.Presence != nil:
		return Presence(*m.Presence)
	case m.Read != nil:
		return Read(*m.Read)
	case m.Contacts != nil:
		return ContactsChanged(*m.Contacts)
	case m.RoomPrefs != nil:
		p := m.RoomPrefs
		return RoomPrefs{Room: p.Room, Silent: p.Silent, SilentUntil: TimeOf(p.SilentUntil), Pinned: p.Pinned, Archived: p.Archived}
	case m.PacketProgress != nil:
		return Progress(*m.PacketProgress)
	case m.PacketWave != nil:
		w := m.PacketWave
		return Wave{Packet: w.Packet, Room: w.Room, Wave: w.Wave, Ends: TimeOf(w.EndsAt), Result: w.Result}
	case m.Wallet != nil:
		w := m.Wallet
		return Wallet{Account: Account{Balance: w.Balance, NextCommitment: w.NextCommitment, Version: w.AccountVersion}, Change: w.Change, Kind: w.Kind, Packet: w.Packet}
	case m.Members != nil:
		return MemberCount(*m.Members)
	case m.JoinRequests != nil:
		return JoinRequested(*m.JoinRequests)
	case m.JoinRefused != nil:
		return JoinRefused(*m.JoinRefused)
	case m.ReportDecided != nil:
		return ReportDecided{*m.ReportDecided}
	}
	return OtherEvent{Raw: raw}
}
