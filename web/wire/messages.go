package wire

import "encoding/json"

// SendRequest is the request of send.
type SendRequest struct {
	Room     string          `json:"room"`
	Key      string          `json:"key"`
	Text     string          `json:"text,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	ReplyTo  int64           `json:"reply_to,omitempty" min:"1"`
	Mentions []string        `json:"mentions,omitempty"`
}

// SendReply is the reply of send.
type SendReply struct {
	Seq int64  `json:"seq"`
	ID  string `json:"id"`
	At  int64  `json:"at"`
	Dup bool   `json:"dup"`
}

// HistoryRequest is the request of history. The cursors are pointers because 0 is a cursor, too.
type HistoryRequest struct {
	Room   string `json:"room"`
	Before *int64 `json:"before,omitempty" min:"0"`
	After  *int64 `json:"after,omitempty" min:"0"`
	Limit  int    `json:"limit,omitempty" min:"1"`
}

// HistoryReply is the reply of history: PacketStates has one State for each packet entry among Entries.
type HistoryReply struct {
	Entries      []Entry `json:"entries"`
	PacketStates []State `json:"packet_states"`
	More         bool    `json:"more"`
}

// ReadRequest is the request of read.
type ReadRequest struct {
	Room string `json:"room"`
	Seq  int64  `json:"seq" min:"0"`
}

// ReadReply is the reply of read.
type ReadReply struct {
	Unread int64 `json:"unread"`
}

// EditRequest is the request of edit.
type EditRequest struct {
	Room string `json:"room"`
	Seq  int64  `json:"seq" min:"1"`
	Text string `json:"text"`
}

// RecallRequest is the request of recall.
type RecallRequest struct {
	Room string `json:"room"`
	Seq  int64  `json:"seq" min:"1"`
}

// SeqReply is the reply of edit and recall: the seq of the entry that records it.
type SeqReply struct {
	Seq int64 `json:"seq"`
}

// ReactRequest is the request of react.
type ReactRequest struct {
	Room  string `json:"room"`
	Seq   int64  `json:"seq" min:"1"`
	Emoji string `json:"emoji"`
	On    bool   `json:"on"`
}

// ReactReply is the reply of react.
type ReactReply struct{}

// TypingSend is the data of a send command.
type TypingSend struct {
	Typing json.RawMessage `json:"typing"` // TypingRoom
}

// TypingRoom names the room in which the user is typing.
type TypingRoom struct {
	Room string `json:"room"`
}
