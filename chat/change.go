package chat

import (
	"encoding/json"
	"time"
)

// ChangeKind says what a change does.
type ChangeKind string

// The kinds of changes, named like the commands that request them. After a ban, unlike a kick, the user cannot come
// back.
const (
	Invite     ChangeKind = "invite"
	Kick       ChangeKind = "kick"
	Ban        ChangeKind = "ban"
	Unban      ChangeKind = "unban"
	SetRole    ChangeKind = "set_role"
	Mute       ChangeKind = "mute"
	UpdateRoom ChangeKind = "update_room"
	DeleteRoom ChangeKind = "delete_room"
)

// Change is a request to change a room or its members.
type Change struct {
	Kind  ChangeKind
	Room  string
	By    User
	Users []string   // the users to change, each once: any number for Invite, none for UpdateRoom and DeleteRoom, otherwise one
	Role  Role       // for SetRole
	Until time.Time  // for Mute; the zero time ends the mute
	To    RoomChange // for UpdateRoom
	At    time.Time

	EntryIDs   []string // ids for the new entries, used in order; at least max(2, len(Users)) of them
	MaxRooms   int      // limit: rooms that a user may be in
	MaxMembers int      // limit: members that the room may have
}

// RoomChange has the new values of a room's fields; a nil field is unchanged. It is also the body of the entry that
// records the change.
type RoomChange struct {
	Name         *string `json:"name,omitempty"`
	Announcement *string `json:"announcement,omitempty"`
}

// RuleInput is the state on which Change.Rule decides. The store locks it until the change is committed.
type RuleInput struct {
	Room  Room
	By    Standing
	Users []UserStanding // in the order of Change.Users
}

// UserStanding is a user with the user's standing in the room.
type UserStanding struct {
	User     string
	Known    bool // the store has the user
	Rooms    int  // rooms that the user is in; set for an Invite only
	Standing Standing
}

// Ruling is what a change does. Its zero value changes nothing.
type Ruling struct {
	Standings []UserStanding // new standings; only User and Standing are set
	Room      *Room          // the room with its new Name, Announcement and Deleted; nil: unchanged
	Entries   []RuledEntry   // entries to be appended, in this order
}

// RuledEntry is an entry that a change appends.
type RuledEntry struct {
	Kind EntryKind
	Body json.RawMessage
}

// Changed is the result of Store.Change.
type Changed struct {
	Changed  bool
	Room     Room     // the room after the change
	Role     Role     // By's role after the change
	Affected []string // users whose standing has changed; empty after DeleteRoom, which changes that of all users
	Entered  []string // users of Affected that are new members
	Exited   []string // users of Affected that are no longer members
	Entries  []Entry
}
