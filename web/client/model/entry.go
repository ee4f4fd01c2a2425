package model

import (
	"encoding/json"
	"time"

	"hongbao/web/wire"
)

// Entry is one element in the numbered log of a room.
type Entry struct {
	Room string
	Seq  int64
	ID   string
	At   time.Time
	From User
	Kind string // text, packet, packet_done, member, edit, recall, react or room; from a newer server also another one
	Key  string // of a text or packet: the key that its sender gave
	Body Body
}

// Body is the content of an entry: Text, PacketBody, PacketDone, MemberChanged, Edited, Recalled, Reacted,
// RoomChanged, or Other.
type Body interface {
	body()
}

// Text is a text message. If the entry was read from history or by Client.Mentions, it is the current text, and only then
// EditedAt and Reactions may be set.
type Text struct {
	Text      string
	Data      json.RawMessage // a JSON object that the application defines
	ReplyTo   int64           // the seq of another entry of the room; 0: none
	Mentions  []string        // user ids
	EditedAt  time.Time       // zero: not edited
	Reactions map[string]int  // number of users by emoji
	Recalled  bool            // the text was recalled, so it is empty
	Retired   bool            // the text is older than the room keeps texts; then Recalled is set, too

	MentionAll bool     // it mentions all members of the room
	Preview    *Preview // of a link in the text; nil: none
}

// Preview says what is behind a link of a text, as the host has told the server.
type Preview struct {
	URL   string // as the text has it
	Title string
	Text  string
}

// PacketBody is a red packet in the room, to be grabbed.
type PacketBody struct {
	Packet

	Reactions map[string]int // number of users by emoji; set only if the entry was read from history

	State *State // state when the entry was read; set only if it was missed and read after a reconnect, or was read from history
}

// PacketDone says that a packet has ended, and has the seed of its shares.
type PacketDone struct {
	Packet string // id
	Reason string // drained, expired or cancelled
	State  State
	Seed   string // hex
}

// MemberChanged says that a user has entered or left the room, or that their role or mute has changed.
type MemberChanged struct {
	User   string // id
	Change string // such as invited, kicked, banned, role, muted, left_private, added, removed
	By     string // id of the user that made the change
	Role   string
	Until  time.Time // end of a mute or ban; zero: the mute was ended, or the ban does not end

	Users []string // of added and removed: the ids of the first users, beginning with User
	Count int      // of added and removed: the number of all users
}

// Edited says that a text was edited.
type Edited struct {
	Target   int64
	Text     string
	Preview  *Preview // of a link in the new text; nil: none
	Recalled bool     // the text was recalled later, so this has no text
}

// Recalled says that a text was recalled.
type Recalled struct {
	Target int64
}

// Reacted says that a user has added an emoji to a text or packet, or removed it.
type Reacted struct {
	Target int64
	Emoji  string
	On     bool
	Count  int // number of users with this emoji on the text or packet, after this change
}

// RoomChanged holds the new name, announcement and settings of a room. A nil field or an empty Invite has not changed. An
// Announcement that points to "" was removed.
type RoomChanged struct {
	Name         *string
	Announcement *string
	Invite       string // which members may invite: members or admins; "": not changed
	Guests       *bool
	Packets      *bool
	Frozen       *bool
}

// Other is a body of a kind that this package does not know.
type Other struct {
	Raw json.RawMessage
}

func (Text) body()          {}
func (PacketBody) body()    {}
func (PacketDone) body()    {}
func (MemberChanged) body() {}
func (Edited) body()        {}
func (Recalled) body()      {}
func (Reacted) body()       {}
func (RoomChanged) body()   {}
func (Other) body()         {}

// EntryOf converts an entry of package wire. states holds, by packet id, the states that the server has sent with the
// entry.
func EntryOf(room string, e wire.Entry, states map[string]State) Entry {
	body := bodyOf(e.Kind, e.Body)
	if sent, ok := body.(PacketBody); ok {
		if state, ok := states[sent.ID]; ok {
			sent.State = &state
			body = sent
		}
	}
	return Entry{Room: room, Seq: e.Seq, ID: e.ID, At: TimeOf(e.At), From: e.From, Kind: e.Kind, Key: e.Key, Body: body}
}

// StatesOf returns the states by packet id.
func StatesOf(list []wire.State) map[string]State {
	states := make(map[string]State, len(list))
	for _, s := range list {
		states[s.Packet] = StateOf(s)
	}
	return states
}
