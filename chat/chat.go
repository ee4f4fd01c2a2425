package chat

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"time"
)

// User is what other users see of a user.
type User struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Avatar string `json:"avatar,omitempty"`
}

// GuestPrefix begins the id of each guest, and of LobbyHost. No user of the host has such an id.
const GuestPrefix = "guest:"

// LobbyHost is the id of the server's own user that welcomes guests. The id has the form of a guest's id, so that no token of
// the host can name it.
const LobbyHost = GuestPrefix + "lobby"

// Guest reports whether the user has no account of the host.
func (u User) Guest() bool { return strings.HasPrefix(u.ID, GuestPrefix) }

// Profile is the name and avatar that Admit stores for a user: those in the user's token, or those that the user has chosen
// (SetProfile, SetPicture).
type Profile struct {
	User

	// KeepName says that the stored name stays, KeepAvatar that the stored avatar stays, for example because the token has none.
	// User.Name is then stored only if the stored user has no name, and User.Avatar only if the user is unknown.
	KeepName, KeepAvatar bool
}

// RoomKind says which users may join.
type RoomKind string

// A public room can be joined without an invitation. A private room needs one, but not for a user that has left and comes back. A
// direct room belongs to two users.
const (
	Public  RoomKind = "public"
	Private RoomKind = "private"
	Direct  RoomKind = "direct"
)

// Inviters says which members of a room may invite users.
type Inviters string

// The values of a room's setting. The owner and admins may invite with either value. A muted member may not invite. No member
// may invite into a direct room.
const (
	MembersInvite Inviters = "members"
	AdminsInvite  Inviters = "admins"
)

// Inviters returns which members may invite in a room of this kind for which nothing is set.
func (k RoomKind) Inviters() Inviters {
	if k == Private {
		return AdminsInvite
	}
	return MembersInvite
}

// Room is a chat room: it has members, and entries that are numbered in one sequence.
type Room struct {
	ID           string
	Name         string
	Kind         RoomKind
	Announcement string
	Invite       Inviters // "": nothing is set
	NoGuests     bool     // guests cannot enter; guests that are members already stay
	NoPackets    bool     // users cannot send packets; packets that are open go on
	Frozen       bool     // only System may send, edit and react
	Ref          string   // the host's own id, which no client sees; "": none
	Members      int
	LastSeq      int64
	CreatedAt    time.Time
	Deleted      bool // it has no members, and never will have any
}

// Inviters returns which members may invite users.
func (r Room) Inviters() Inviters { return cmp.Or(r.Invite, r.Kind.Inviters()) }

// admit returns an error if the user is a guest and guests cannot enter the room.
func (r Room) admit(user string) error {
	if r.NoGuests && (User{ID: user}).Guest() {
		return &FieldError{Err: ErrForbidden, Field: "guests", Reason: "is false: only users with an account may enter"}
	}
	return nil
}

// FrozenRefusal returns an error if a room is frozen and the user is not System.
func FrozenRefusal(frozen bool, by User) error {
	if frozen && !by.IsSystem() {
		return &FieldError{Err: ErrForbidden, Field: "frozen", Reason: "is true: only the system may post"}
	}
	return nil
}

// PacketsRefusal returns an error if packets are switched off in a room and the entry is a packet.
func PacketsRefusal(off bool, kind EntryKind) error {
	if off && kind == KindPacket {
		return &FieldError{Err: ErrForbidden, Field: "packets", Reason: "is false: nobody may send packets"}
	}
	return nil
}

// SmallRoom is the highest number of members with which presence and read positions are published to all members of a
// room.
const SmallRoom = 200

// Role says what a member may do in a room.
type Role string

// The roles of members, and NoRole for a user that is not a member. A public or private room with members has exactly one
// owner. Both members of a direct room are Plain.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Plain  Role = "member"
	NoRole Role = ""
)

// Standing is the relation of one user to one room.
type Standing struct {
	Ever        bool // the user was a member at some time, or was banned
	Visible     bool // the user never was a member, but may know of the room because it is public
	In          bool // the user is a member now
	Left        bool // the user has chosen to leave the room; only System can invite the user again
	Banned      bool
	BannedUntil time.Time // of a banned user; zero: the ban does not end
	RoomDeleted bool      // the room was deleted; may be false for a user that was never a member
	Role        Role
	MutedUntil  time.Time // zero or past: not muted
	JoinedSeq   int64     // last seq of the room when the user became a member; of members only
	SelfLimited bool      // the user has set a limit of their own on what they receive in packets
}

// JoinedBefore reports whether the user is a member, and has been since before the entry with this seq.
func (s Standing) JoinedBefore(seq int64) bool { return s.In && s.JoinedSeq < seq }

// At returns the standing as it is at the time now: without a ban that has ended.
func (s Standing) At(now time.Time) Standing {
	if s.Banned && !s.BannedUntil.IsZero() && !now.Before(s.BannedUntil) {
		s.Banned, s.BannedUntil = false, time.Time{}
	}
	return s
}

// MaySend returns an error unless a user with this standing may send into the room at the time now. It does not check whether
// the room is frozen, or takes packets.
func (s Standing) MaySend(now time.Time) error {
	if err := s.At(now).MayRead(); err != nil {
		return err
	}
	if now.Before(s.MutedUntil) {
		return ErrMuted
	}
	return nil
}

// MayRead returns an error unless a user with this standing may see the room's entries and members. It does not know the time:
// the caller first removes a ban that has ended, with At.
func (s Standing) MayRead() error {
	switch {
	case !s.Ever && !s.Visible, s.RoomDeleted:
		return ErrNotFound
	case s.Banned:
		return ErrBanned
	case !s.In:
		return ErrNotMember
	}
	return nil
}

// MayMentionAll returns an error unless a user with this standing may mention all members of the room at once.
func (s Standing) MayMentionAll() error {
	if s.Role.rank() < Admin.rank() {
		return &FieldError{Err: ErrForbidden, Field: "mention_all", Reason: "is only for the owner and admins of a room"}
	}
	return nil
}

// Membership is a room as one of its members sees it.
type Membership struct {
	Room        Room
	Role        Role
	MutedUntil  time.Time // zero or past: not muted; part of the user's Standing
	JoinedSeq   int64     // part of the user's Standing
	SelfLimited bool      // the same
	ReadSeq     int64
	Unread      int64 // text and packet entries of other users after ReadSeq
	Prefs       Prefs
}

// Member is one member of a room.
type Member struct {
	User       User // of a stranger: only the id
	Role       Role
	MutedUntil time.Time
	ReadSeq    int64 // how far the member has read; 0: nothing since joining, a stranger, or more than SmallRoom members
	Stranger   bool  // see Store.Strangers; the viewer must not learn the name or the presence
}

// EntryKind says what an entry's body holds.
type EntryKind string

// The kinds of entries. Entries of the kinds KindText and KindPacket count as unread.
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

// Content reports whether entries of this kind count as unread.
func (k EntryKind) Content() bool { return k == KindText || k == KindPacket }

// Entry is one element of a room's sequence.
type Entry struct {
	Room string
	Seq  int64
	ID   string
	At   time.Time
	From User
	Kind EntryKind
	Key  string // key of the client's request; on text and packet entries only
	Body json.RawMessage
}

// Text is the body of a text entry.
type Text struct {
	Text     string          `json:"text"`
	Data     json.RawMessage `json:"data,omitempty"`
	ReplyTo  int64           `json:"reply_to,omitempty"`
	Mentions []string        `json:"mentions,omitempty"`
	Files    []File          `json:"files,omitempty"`

	MentionAll bool     `json:"mention_all,omitempty"` // the text mentions all members of the room
	Preview    *Preview `json:"preview,omitempty"`     // of a link of the text; nil: none
}

// MemberChange is the body of a member entry.
type MemberChange struct {
	User   string `json:"user"`
	Change string `json:"change"` // invited, kicked, banned, role, muted, left_private
	By     string `json:"by"`
	Role   Role   `json:"role,omitempty"`
	Until  int64  `json:"until,omitempty"` // Unix milliseconds; of a mute, or of a ban that ends
}

// MembersChange is the body of a member entry that records the change of many members: added, removed.
type MembersChange struct {
	MemberChange

	Users []string `json:"users"` // the first of them, beginning with User
	Count int      `json:"count"` // number of all users that were added or removed
}

// newest counts the ids of one millisecond.
var newest struct {
	mu    sync.Mutex
	ms    uint64 // guarded by mu
	count uint16 // guarded by mu
}

// NewID returns a UUIDv7. Such ids sort by creation time, so new rows are added at the end of an index. Ids that a process draws one after
// the other in the same millisecond sort in this order, too, if these are at most 2,048.
func NewID(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand stops the process instead
	ms := uint64(now.UnixMilli())
	newest.mu.Lock()
	if newest.count++; newest.ms != ms {
		newest.ms, newest.count = ms, binary.BigEndian.Uint16(b[6:])&0x07ff
	}
	binary.BigEndian.PutUint16(b[6:], newest.count)
	newest.mu.Unlock()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}
