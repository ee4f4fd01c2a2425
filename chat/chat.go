package chat

import (
	"encoding/json"
	"time"
)

// User is a person as others see him.
type User struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Avatar string `json:"avatar,omitempty"`
}

// RoomKind says who may come in.
type RoomKind string

// Anyone may join a public room; a private one wants an invitation; a direct one is a pair's.
const (
	Public  RoomKind = "public"
	Private RoomKind = "private"
	Direct  RoomKind = "direct"
)

// Room is a place with members and one numbered sequence of entries.
type Room struct {
	ID           string
	Name         string
	Kind         RoomKind
	Announcement string
	Members      int
	LastSeq      int64
	CreatedAt    time.Time
	Deleted      bool // nobody is in it any more, and nobody will be
}

// SmallRoom is how many members a room may have for the presence and the reading of each to be told to all.
const SmallRoom = 200

// Role is what a member may do in a room.
type Role string

// The three roles. A room with members has exactly one owner.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Plain  Role = "member"
	NoRole Role = ""
)

// Standing is how one user stands to one room.
type Standing struct {
	Ever       bool // was a member at some time; or was banned, who may never have been one
	Visible    bool // never was, yet may know that the room is there: it is public
	In         bool // is a member now
	Banned     bool
	Gone       bool // the room has been deleted
	Role       Role
	MutedUntil time.Time // zero: not muted
}

// MaySend says whether a user with this standing may send into the room at now.
func (s Standing) MaySend(now time.Time) error {
	if err := s.MayRead(); err != nil {
		return err
	}
	if now.Before(s.MutedUntil) {
		return ErrMuted
	}
	return nil
}

// MayRead says whether a user with this standing may see the room's entries and members.
func (s Standing) MayRead() error {
	switch {
	case !s.Ever && !s.Visible, s.Gone:
		return ErrNotFound
	case s.Banned:
		return ErrBanned
	case !s.In:
		return ErrNotMember
	}
	return nil
}

// Membership is a room as one of its members sees it.
type Membership struct {
	Room       Room
	Role       Role
	MutedUntil time.Time // zero: not muted; for his Standing
	ReadSeq    int64
	Unread     int64 // text and packet entries of others after ReadSeq
}

// Member is one member of a room.
type Member struct {
	User       User
	Role       Role
	MutedUntil time.Time
}

// EntryKind says what an entry's body is.
type EntryKind string

// The kinds of entries. Text and Packet are content: they count as unread.
const (
	KindText       EntryKind = "text"
	KindPacket     EntryKind = "packet"
	KindPacketDone EntryKind = "packet_done"
	KindMember     EntryKind = "member"
	KindEdit       EntryKind = "edit"
	KindRecall     EntryKind = "recall"
	KindReact      EntryKind = "react"
	KindRoom       EntryKind = "room"
)

// Content tells whether entries of this kind count as unread.
func (k EntryKind) Content() bool { return k == KindText || k == KindPacket }

// Entry is one line of a room's sequence.
type Entry struct {
	Room string
	Seq  int64
	ID   string
	At   time.Time
	From User
	Kind EntryKind
	Key  string // the client's, on text and packet
	Body json.RawMessage
}

// Text is the body of a text entry.
type Text struct {
	Text     string          `json:"text"`
	Data     json.RawMessage `json:"data,omitempty"`
	ReplyTo  int64           `json:"reply_to,omitempty"`
	Mentions []string        `json:"mentions,omitempty"`
}

// MemberChange is the body of a member entry.
type MemberChange struct {
	User   string `json:"user"`
	Change string `json:"change"` // invited, kicked, banned, role, muted, left_private
	By     string `json:"by"`
	Role   Role   `json:"role,omitempty"`
	Until  int64  `json:"until,omitempty"` // Unix milliseconds
}
