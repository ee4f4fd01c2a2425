package wire

import "encoding/json"

// TextBody is the body of a text entry. What became of it since stands there in a history only; of a recalled text
// nothing but Recalled does.
type TextBody struct {
	Text      string          `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	ReplyTo   int64           `json:"reply_to,omitempty"`
	Mentions  []string        `json:"mentions,omitempty"`
	EditedAt  int64           `json:"edited_at,omitempty"`
	Reactions map[string]int  `json:"reactions,omitempty"` // how many by emoji
	Recalled  bool            `json:"recalled,omitempty"`
}

// PacketDoneBody is the body of a packet_done entry; its State has no Mine. A packet entry's body is the Packet.
type PacketDoneBody struct {
	Packet string `json:"packet"`
	Reason string `json:"reason" enum:"drained,expired,cancelled"`
	State  State  `json:"state"`
	Seed   string `json:"seed"` // hex
}

// MemberBody is the body of a member entry.
type MemberBody struct {
	User   string `json:"user"`
	Change string `json:"change" enum:"invited,kicked,banned,role,muted,left_private"`
	By     string `json:"by"`
	Role   string `json:"role,omitempty" enum:"owner,admin,member"`
	Until  int64  `json:"until,omitempty"`
}

// EditBody is the body of an edit entry; the text goes when it is recalled.
type EditBody struct {
	Target   int64  `json:"target"`
	Text     string `json:"text,omitempty"`
	Recalled bool   `json:"recalled,omitempty"`
}

// RecallBody is the body of a recall entry.
type RecallBody struct {
	Target int64 `json:"target"`
}

// ReactBody is the body of a react entry. Count is how many have this emoji on the text now.
type ReactBody struct {
	Target int64  `json:"target"`
	Emoji  string `json:"emoji"`
	On     bool   `json:"on"`
	Count  int    `json:"count"`
}

// RoomBody is the body of a room entry: what is otherwise from now on. An empty announcement is none any more.
type RoomBody struct {
	Name         *string `json:"name,omitempty"`
	Announcement *string `json:"announcement,omitempty"`
}
