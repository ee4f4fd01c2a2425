package wire

import (
	"encoding/json"
)

// Entry is one element in the numbered log of a room.
type Entry struct {
	Seq  int64           `json:"seq" doc:"position in the room; also the 'offset' of the publication"`
	ID   string          `json:"id" doc:"UUIDv7"`
	At   int64           `json:"at" doc:"Unix milliseconds"`
	From User            `json:"from" doc:"the User that caused it"`
	Kind string          `json:"kind" doc:"see the table"`
	Key  string          `json:"key,omitempty" doc:"the sender's key, on every text and packet entry, for everyone"`
	Body json.RawMessage `json:"body" doc:"by kind"`
}

// TextBody is the body of a text entry. EditedAt and Reactions are set only in the replies of history and mentions, also in the
// server API. There Text is the present text. A recalled text has no field but Recalled, and a retired one both.
type TextBody struct {
	Text      string          `json:"text,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	ReplyTo   int64           `json:"reply_to,omitempty"`
	Mentions  []string        `json:"mentions,omitempty"`
	Files     []File          `json:"files,omitempty"`
	EditedAt  int64           `json:"edited_at,omitempty"`
	Reactions map[string]int  `json:"reactions,omitempty"` // number of users by emoji
	Recalled  bool            `json:"recalled,omitempty"`
	Retired   bool            `json:"retired,omitempty"` // it is older than the room keeps texts; then Recalled is set, too

	MentionAll bool     `json:"mention_all,omitempty"`
	Preview    *Preview `json:"preview,omitempty"`
}

// Preview says what is behind a link of a text.
type Preview struct {
	URL   string `json:"url" doc:"http or https, as the text has it"`
	Title string `json:"title" doc:"at most 200 characters, like 'text' on one line and without control characters"`
	Text  string `json:"text,omitempty" doc:"at most 500 characters"`
}

// PacketBody is the body of a packet entry. Reactions is set only in the replies of history, also in the server API.
type PacketBody struct {
	Packet

	Reactions map[string]int `json:"reactions,omitempty"` // number of users by emoji
}

// PacketDoneBody is the body of a packet_done entry. Its State has no Mine.
type PacketDoneBody struct {
	Packet string `json:"packet"`
	Reason string `json:"reason" enum:"drained,expired,cancelled"`
	State  State  `json:"state"`
	Seed   string `json:"seed"` // hex
}

// MemberBody is the body of a member entry.
type MemberBody struct {
	User   string `json:"user"`
	Change string `json:"change" enum:"invited,kicked,banned,role,muted,left_private,added,removed"`
	By     string `json:"by"`
	Role   string `json:"role,omitempty" enum:"owner,admin,member"`
	Until  int64  `json:"until,omitempty"`

	Users []string `json:"users,omitempty"` // of added and removed: the ids of the first users, beginning with User
	Count int      `json:"count,omitempty"` // of added and removed: the number of all users
}

// EditBody is the body of an edit entry. Text is missing if the text was recalled later.
type EditBody struct {
	Target   int64    `json:"target"`
	Text     string   `json:"text,omitempty"`
	Preview  *Preview `json:"preview,omitempty"`
	Recalled bool     `json:"recalled,omitempty"`
}

// RecallBody is the body of a recall entry.
type RecallBody struct {
	Target int64 `json:"target"`
}

// ReactBody is the body of a react entry. Count is the number of users with this emoji on the text or packet, after this
// change.
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
	Invite       string  `json:"invite,omitempty" enum:"members,admins"`
	Guests       *bool   `json:"guests,omitempty"`
	Packets      *bool   `json:"packets,omitempty"`
	Frozen       *bool   `json:"frozen,omitempty"` // whether only the system may post
}

// Message is the data of a push without a seq, except the pushes subscribe and unsubscribe. Exactly one field is set: its name is
// the push's name. The tag event is the name of the event in the SDKs; the SDKs have no event for left, but for its room's unsubscribe.
type Message struct {
	Members        *MembersPush      `json:"members,omitempty" event:"MemberCount"`
	PacketProgress *ProgressPush     `json:"packet_progress,omitempty" event:"Progress"`
	PacketWave     *WavePush         `json:"packet_wave,omitempty" event:"Wave"`
	Wallet         *WalletPush       `json:"wallet,omitempty" event:"Wallet"`
	Read           *ReadPush         `json:"read,omitempty" event:"Read"`
	Left           *LeftPush         `json:"left,omitempty"`
	Typing         *TypingPush       `json:"typing,omitempty" event:"Typing"`
	Presence       *PresencePush     `json:"presence,omitempty" event:"Presence"`
	Contacts       *ContactsPush     `json:"contacts,omitempty" event:"Contacts"`
	RoomPrefs      *RoomPrefsPush    `json:"room_prefs,omitempty" event:"RoomPrefs"`
	JoinRequests   *JoinRequestsPush `json:"join_requests,omitempty" event:"JoinRequested"`
	JoinRefused    *JoinRefusedPush  `json:"join_refused,omitempty" event:"JoinRefused"`
	ReportDecided  *OwnReport        `json:"report_decided,omitempty" event:"ReportDecided"`
}

// JoinRefusedPush says that the user's request to enter a room was dropped.
type JoinRefusedPush struct {
	Room string `json:"room"`
}

// JoinRequestsPush tells the owner and the admins of a room how many users ask to enter it.
type JoinRequestsPush struct {
	Room  string `json:"room"`
	Count int    `json:"count"`
}

// TypingPush says that a member of a room is typing.
type TypingPush struct {
	Room string `json:"room"`
	User string `json:"user"`
}

// PresencePush says that a member of a small room has come online or gone offline.
type PresencePush struct {
	Room   string `json:"room"`
	User   string `json:"user"`
	Online bool   `json:"online"`
}

// ContactsPush says that the user has changed the contact setting, or has blocked or unblocked another user.
type ContactsPush struct {
	Contact string `json:"contact,omitempty" enum:"everyone,shared,nobody"`
	User    string `json:"user,omitempty"`
	Blocked bool   `json:"blocked,omitempty"` // of User
}

// RoomPrefsPush says what the user has decided about a room.
type RoomPrefsPush struct {
	Room        string `json:"room"`
	Silent      bool   `json:"silent"`
	SilentUntil int64  `json:"silent_until,omitempty"` // when the silence ends, ms; 0: it does not
	Pinned      bool   `json:"pinned"`
	Archived    bool   `json:"archived"`
}

// MembersPush says how many members a room has.
type MembersPush struct {
	Room  string `json:"room"`
	Count int    `json:"count"`
}

// ProgressPush says how many shares of a packet are claimed, or how many users have entered a draw.
type ProgressPush struct {
	Packet  string   `json:"packet"`
	Room    string   `json:"room"`
	Claimed int      `json:"claimed"`
	Count   int      `json:"count"`
	Latest  []string `json:"latest"` // ids of users with new claims, or that have just entered the draw, at most 5, newest last

	Participants int `json:"participants,omitempty"` // of a draw
}

// WavePush says that users can enter a wave of a rain until EndsAt, or, with Result, what has become of it.
type WavePush struct {
	Packet string      `json:"packet"`
	Room   string      `json:"room"`
	Wave   int         `json:"wave"` // from 1
	EndsAt int64       `json:"ends_at"`
	Result *WaveResult `json:"result,omitempty"`
}

// WaveResult is what has become of a wave. Winners are the first 20 of them, in the order in which they were drawn.
type WaveResult struct {
	Participants int          `json:"participants"`
	Won          int          `json:"won"` // how many users have won a share
	Winners      []WaveWinner `json:"winners"`
}

// WaveWinner is a user that has won a share in a wave.
type WaveWinner struct {
	User   string `json:"user"` // id
	Amount int64  `json:"amount"`
	Rank   int    `json:"rank"`
}

// WalletPush says how the user's balance has changed.
type WalletPush struct {
	Balance        int64  `json:"balance"`
	AccountVersion int64  `json:"account_version"`
	Change         int64  `json:"change"` // signed
	Kind           string `json:"kind" enum:"credit,debit,send,claim,refund"`
	Packet         string `json:"packet,omitempty"`
	NextCommitment string `json:"next_commitment"`
}

// ReadPush says how far a user has read.
type ReadPush struct {
	Room string `json:"room"`
	User string `json:"user"`
	Seq  int64  `json:"seq"`
}

// LeftPush says that the user is out of a room. The unsubscribe push of its channel follows.
type LeftPush struct {
	Room   string `json:"room"`
	Reason string `json:"reason" enum:"left,kicked,banned,deleted"`
}

// Joined is the data of the subscribe push: the user is in this room now.
type Joined struct {
	Room Room `json:"room"`
}

// UnsubscribeCode is the code of every unsubscribe push. It means that the client must not subscribe again by itself.
const UnsubscribeCode = 2000
