package wire

import "encoding/json"

// TextBody is the body of a text entry. EditedAt and Reactions are set only when it is read from history. A recalled
// text has no field but Recalled.
type TextBody struct {
	Text      string          `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	ReplyTo   int64           `json:"reply_to,omitempty"`
	Mentions  []string        `json:"mentions,omitempty"`
	EditedAt  int64           `json:"edited_at,omitempty"`
	Reactions map[string]int  `json:"reactions,omitempty"` // number of users by emoji
	Recalled  bool            `json:"recalled,omitempty"`
}

// PacketDoneBody is the body of a packet_done entry. Its State has no Mine. (The body of a packet entry is a Packet.)
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

// EditBody is the body of an edit entry. Text is missing if the text was recalled later.
type EditBody struct {
	Target   int64  `json:"target"`
	Text     string `json:"text,omitempty"`
	Recalled bool   `json:"recalled,omitempty"`
}

// RecallBody is the body of a recall entry.
type RecallBody struct {
	Target int64 `json:"target"`
}

// ReactBody is the body of a react entry. Count is the number of users with this emoji on the text, after this change.
type ReactBody struct {
	Target int64  `json:"target"`
	Emoji  string `json:"emoji"`
	On     bool   `json:"on"`
	Count  int    `json:"count"`
}

// RoomBody is the body of a room entry and holds the new values. An empty announcement removes the old one.
type RoomBody struct {
	Name         *string `json:"name,omitempty"`
	Announcement *string `json:"announcement,omitempty"`
}
