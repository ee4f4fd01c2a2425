package push

import (
	"encoding/json"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/wire"
)

// Signal is a message to the sessions of a user or a room, on every instance. It says that the user has entered or left
// a room, that a room was deleted, or that sockets must be closed. Clients do not receive signals: sessions
// send pushes to their clients instead, or close the sockets.
type Signal struct {
	By      string   `json:"by"` // name of the instance that sent it
	Room    string   `json:"room,omitempty"`
	Entered *Entered `json:"entered,omitempty"` // nil: the user is out of the room
	Reason  string   `json:"reason,omitempty"`  // why the user is out; "": not known
	Through int64    `json:"through,omitempty"` // last entry that the user still gets; 0: the last one delivered
	Close   *Close   `json:"close,omitempty"`   // if set, the fields above but By are empty
}

// Close names the sockets of a user that must be closed.
type Close struct {
	Code   int    `json:"code"`
	Socket string `json:"socket,omitempty"` // "": all sockets of the user
}

// Entered is what a session needs to subscribe its connection to a room.
type Entered struct {
	Seen int64       `json:"seen"` // the room's last seq when the membership was read
	Data wire.Joined `json:"data"`
}

// The reasons why a user is not in a room any more, as clients receive them.
const (
	ReasonLeft    = "left"
	ReasonKicked  = "kicked"
	ReasonBanned  = "banned"
	ReasonDeleted = "deleted"
)

// Encode returns the signal as bytes for hub.Hub.Signal.
func (s Signal) Encode() []byte { return marshal(s) }

// ParseSignal parses the bytes that Signal.Encode has returned.
func ParseSignal(data []byte) (s Signal, err error) {
	err = json.Unmarshal(data, &s)
	return s, err
}

// Notice is a message to all other instances.
type Notice struct {
	Moved *Membership `json:"moved,omitempty"` // what has changed, and instances must therefore drop from their caches

	Erased *Membership `json:"erased,omitempty"` // of whose entries and packets names and texts are gone; without a room: of packets alone; without a user: retired texts of the room
}

// Membership identifies a user's membership in a room. If User is "", the room was deleted, which ends every membership
// in it. If Room is "", it stands for what the store knows of the user: name, avatar, revocation and suspension.
type Membership struct {
	Room string `json:"room,omitempty"`
	User string `json:"user,omitempty"`
}

func (n Notice) encode() []byte { return marshal(n) }

// ParseNotice parses the bytes of a notice that Publisher.StandingChanged has sent.
func ParseNotice(data []byte) (n Notice, err error) {
	err = json.Unmarshal(data, &n)
	return n, err
}

// Revise is for hub.Options. If m is a recall, it returns a function that empties the recalled text and its edits,
// exactly as the store does. For any other message it returns nil.
func Revise(m hub.Message) func(earlier hub.Message) hub.Message {
	recall, ok := m.Meta.(meta)
	if !ok || recall.kind != chat.KindRecall {
		return nil
	}
	return func(earlier hub.Message) hub.Message {
		edit, _ := earlier.Meta.(meta)
		switch {
		case earlier.Seq == recall.target:
			earlier.Data = withBody(earlier.Data, chat.EmptyText)
		case edit.kind == chat.KindEdit && edit.target == recall.target:
			earlier.Data = withBody(earlier.Data, chat.EmptyEdit(recall.target))
		}
		return earlier
	}
}

// withBody returns the bytes of an entry with another body.
func withBody(entry []byte, body json.RawMessage) []byte {
	var e wire.Entry
	if json.Unmarshal(entry, &e) != nil {
		return entry // only if the bytes are not an entry
	}
	e.Body = body
	return wire.EntryJSON(e)
}
