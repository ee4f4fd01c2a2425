package chat

import (
	"encoding/json"
	"time"
)

// ChangeKind says what is to be otherwise.
type ChangeKind string

// The changes, by their commands. Ban is a kick that lasts.
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

// Change is what somebody wants to be otherwise about a room or its people.
type Change struct {
	Kind  ChangeKind
	Room  string
	By    User
	Users []string   // each once: many to Invite, none to UpdateRoom and DeleteRoom, else one
	Role  Role       // SetRole
	Until time.Time  // Mute; zero lifts it
	To    RoomChange // UpdateRoom
	At    time.Time

	EntryIDs   []string // of the entries it makes, used in order: max(2, len(Users)) of them
	MaxRooms   int      // that a user may be in
	MaxMembers int      // of the room
}

// RoomChange is the body of a room entry: what is otherwise from now on. Nil: as it was.
type RoomChange struct {
	Name         *string `json:"name,omitempty"`
	Announcement *string `json:"announcement,omitempty"`
}

// Scene is what a change is judged by: the store holds it until the change is committed.
type Scene struct {
	Room  Room
	By    Standing
	Users []Placed // as in Change.Users
}

// Placed is how one user stands.
type Placed struct {
	User     string
	Known    bool // somebody has heard of him
	Rooms    int  // that he is in; told for an Invite only
	Standing Standing
}

// Ruling is what becomes of a change. Where nothing stands in it, all stays as it is.
type Ruling struct {
	Stand   []Placed // users who stand otherwise from now on: only User and Standing
	Room    *Room    // Name, Announcement and Deleted from now on; nil: as they are
	Entries []Ruled  // to be appended, in this order
}

// Ruled is an entry that a change makes.
type Ruled struct {
	Kind EntryKind
	Body json.RawMessage
}

// Changed is what a Change did.
type Changed struct {
	Changed bool
	Room    Room     // as it is now
	Role    Role     // that By has in it now
	Moved   []string // who stands otherwise; after DeleteRoom everybody does, and nobody is named
	Entered []string // of these, who came in
	Gone    []string // and who was put out
	Entries []Entry
}
