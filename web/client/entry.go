package client

import (
	"encoding/json"
	"time"

	"hongbao/web/wire"
)

// Entry is one line of a room's sequence.
type Entry struct {
	Room string
	Seq  int64
	ID   string
	At   time.Time
	From User
	Kind string // the word of the wire: text, packet, packet_done, member, edit, recall, react, room
	Key  string // of texts and packets: their sender's
	Body Body
}

// Body is what an entry says: Text, PacketSent, PacketDone, MemberChanged, Edited, Recalled, Reacted,
// RoomChanged, or Other.
type Body interface {
	body()
}

// Text is a message. Read from history it is as it reads now; EditedAt and Reactions are known only then.
type Text struct {
	Text      string
	Data      json.RawMessage // an object that the host gave a meaning
	ReplyTo   int64           // a seq of the room; 0: none
	Mentions  []string        // user ids
	EditedAt  time.Time       // zero: not edited
	Reactions map[string]int  // how many, by emoji
	Recalled  bool            // there is no text any more
}

// PacketSent is a red packet, open to be grabbed.
type PacketSent struct {
	Packet

	State *State // how it stood when the entry was read again, after a reconnect or from history
}

// PacketDone says that a packet is finished, and reveals its seed.
type PacketDone struct {
	Packet string // id
	Reason string // drained, expired, cancelled
	State  State
	Seed   string // hex
}

// MemberChanged says what became of somebody's being in the room.
type MemberChanged struct {
	User   string // id
	Change string // invited, kicked, banned, role, muted, left_private
	By     string // id
	Role   string
	Until  time.Time // of a mute; zero: it was lifted
}

// Edited says that a text reads otherwise now.
type Edited struct {
	Target   int64
	Text     string
	Recalled bool // the text has been recalled since, and this one with it
}

// Recalled says that a text is gone.
type Recalled struct {
	Target int64
}

// Reacted says that somebody has put an emoji on a text, or taken it away.
type Reacted struct {
	Target int64
	Emoji  string
	On     bool
	Count  int // how many there are now
}

// RoomChanged says what is new about the room; nil: as it was.
type RoomChanged struct {
	Name         *string
	Announcement *string
}

// Other is a body that this package does not know.
type Other struct {
	Raw json.RawMessage
}

func (Text) body()          {}
func (PacketSent) body()    {}
func (PacketDone) body()    {}
func (MemberChanged) body() {}
func (Edited) body()        {}
func (Recalled) body()      {}
func (Reacted) body()       {}
func (RoomChanged) body()   {}
func (Other) body()         {}

// entryOf reads an entry. states are of the packets around it, by id, where the server told them.
func entryOf(room string, e wire.Entry, states map[string]State) Entry {
	body := bodyOf(e.Kind, e.Body)
	if sent, ok := body.(PacketSent); ok {
		if state, ok := states[sent.ID]; ok {
			sent.State = &state
			body = sent
		}
	}
	return Entry{Room: room, Seq: e.Seq, ID: e.ID, At: timeOf(e.At), From: e.From, Kind: e.Kind, Key: e.Key, Body: body}
}

// statesOf orders states by their packets.
func statesOf(list []wire.State) map[string]State {
	states := make(map[string]State, len(list))
	for _, s := range list {
		states[s.Packet] = stateOf(s)
	}
	return states
}
