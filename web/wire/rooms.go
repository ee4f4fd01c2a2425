package wire

import (
	"encoding/json"
)

// CreateRoomRequest is the request of create_room.
type CreateRoomRequest struct {
	Key     string   `json:"key"`
	Name    string   `json:"name" doc:"at most 64 characters"`
	Kind    string   `json:"kind,omitempty" enum:"public,private" doc:"'private' (default) or 'public': anyone may find, read and join it"`
	Members []string `json:"members,omitempty" doc:"users to put in; each must accept [contact](#set_contact); a user never seen counts as one that does not"`
	Invite  string   `json:"invite,omitempty" enum:"members,admins" doc:"which members may [invite](#invite): 'members' (default in public rooms) or 'admins' (default in private rooms: the owner and admins)"`
	Guests  *bool    `json:"guests,omitempty" doc:"false: guests cannot enter (default true); with a guest as the caller or in 'members' it is 'forbidden field=guests'"`
	Packets *bool    `json:"packets,omitempty" doc:"false: nobody can send packets (default true)"`
}

// CreateRoomReply is the reply of create_room.
type CreateRoomReply struct {
	Room Room `json:"room"`
	Dup  bool `json:"dup"`
}

// JoinRequest is the request of join.
type JoinRequest struct {
	Room string `json:"room"`
}

// JoinReply is the reply of join.
type JoinReply struct {
	Room Room `json:"room"`
}

// LeaveRequest is the request of leave.
type LeaveRequest struct {
	Room string `json:"room"`
}

// LeaveReply is the reply of leave.
type LeaveReply struct{}

// FindRoomsRequest is the request of find_rooms.
type FindRoomsRequest struct {
	Query string `json:"query,omitempty" doc:"part of the name, in upper or lower case, of either width; empty: all. The id of such a room finds that room alone"`
	Next  string `json:"next,omitempty"`
	Limit int    `json:"limit,omitempty" min:"1"`
}

// FindRoomsReply is the reply of find_rooms.
type FindRoomsReply struct {
	Rooms []Room `json:"rooms"`
	Next  string `json:"next,omitempty"`
}

// RoomsRequest is the request of rooms.
type RoomsRequest struct {
	Next  string `json:"next,omitempty"`
	Limit int    `json:"limit,omitempty" min:"1"`
}

// RoomsReply is the reply of rooms.
type RoomsReply struct {
	Rooms []MyRoom `json:"rooms"`
	Next  string   `json:"next,omitempty"`
}

// MembersRequest is the request of members.
type MembersRequest struct {
	Room  string `json:"room"`
	Next  string `json:"next,omitempty"`
	Limit int    `json:"limit,omitempty" min:"1"`
}

// MembersReply is the reply of members.
type MembersReply struct {
	Members []Member `json:"members"`
	Next    string   `json:"next,omitempty"`
}

// Member is one member of a room.
type Member struct {
	User       User   `json:"user"`
	Role       string `json:"role" enum:"owner,admin,member"`
	Online     bool   `json:"online"`
	MutedUntil int64  `json:"muted_until,omitempty"`
	ReadSeq    int64  `json:"read_seq,omitempty"`
}

// DirectRequest is the request of direct.
type DirectRequest struct {
	User string `json:"user" doc:"the other user; oneself is 'bad_request field=user'; a user never seen is 'contact_refused field=user'"`
}

// DirectReply is the reply of direct.
type DirectReply struct {
	Room Room `json:"room"`
}

// BlockRequest is the request of block.
type BlockRequest struct {
	User string `json:"user" doc:"the user; oneself is 'bad_request field=user'"`
}

// BlockReply is the reply of block.
type BlockReply struct{}

// UnblockRequest is the request of unblock.
type UnblockRequest struct {
	User string `json:"user"`
}

// UnblockReply is the reply of unblock.
type UnblockReply struct{}

// SetContactRequest is the request of set_contact.
type SetContactRequest struct {
	Contact string `json:"contact" enum:"everyone,shared,nobody" doc:"'everyone' (at first), 'shared': users that are in some room together with the caller, or 'nobody'"`
}

// SetContactReply is the reply of set_contact.
type SetContactReply struct{}

// ContactsRequest is the request of contacts.
type ContactsRequest struct{}

// ContactsReply is the reply of contacts. A blocked user that the server does not know has an id and an empty name.
type ContactsReply struct {
	Contact string `json:"contact" enum:"everyone,shared,nobody"`
	Blocked []User `json:"blocked"`
}

// UsersRequest is the request of users.
type UsersRequest struct {
	Users []string `json:"users" doc:"1 to 100 ids"`
}

// UsersReply is the reply of users. It leaves out users that the caller may not know.
type UsersReply struct {
	Users []User `json:"users"`
}

// SetRoomPrefsRequest is the request of set_room_prefs. A missing field is unchanged.
type SetRoomPrefsRequest struct {
	Room     string `json:"room"`
	Silent   *bool  `json:"silent,omitempty" doc:"true: new entries make no sound, banner or notification, and do not count in the unread total of all rooms"`
	SilentS  int64  `json:"silent_s,omitempty" min:"0" doc:"with 'silent' true: for how many seconds, at most a year; left out or 0: without an end"`
	Pinned   *bool  `json:"pinned,omitempty" doc:"true: the room is at the top of the list"`
	Archived *bool  `json:"archived,omitempty" doc:"true: the room is not in the list"`
}

// SetRoomPrefsReply is the reply of set_room_prefs.
type SetRoomPrefsReply struct {
	Silent      bool  `json:"silent" doc:"new entries make no sound, banner or notification, and do not count in the unread total of all rooms"`
	SilentUntil int64 `json:"silent_until,omitempty" doc:"when the silence ends, ms; left out: it does not"`
	Pinned      bool  `json:"pinned" doc:"at the top of the list"`
	Archived    bool  `json:"archived" doc:"not in the list, until the next text or packet if the room is not silent without an end"`
}

// InviteRequest is the request of invite.
type InviteRequest struct {
	Room  string   `json:"room"`
	Users []string `json:"users" doc:"1 to 100 users; repetitions are dropped; users already in the room are skipped"`
}

// InviteReply is the reply of invite.
type InviteReply struct{}

// KickRequest is the request of kick.
type KickRequest struct {
	Room string `json:"room"`
	User string `json:"user" doc:"any user: the answer does not tell whether the server knows the id"`
	Ban  bool   `json:"ban,omitempty" doc:"also ban the user; outsiders can be banned before they come"`

	Until  int64  `json:"until,omitempty" min:"0" doc:"when the ban ends, in Unix milliseconds; missing: never"`
	Reason string `json:"reason,omitempty" doc:"of the ban, at most 200 characters; only the [host](../server-api.md#moderate-a-room) sees it"`
}

// KickReply is the reply of kick.
type KickReply struct{}

// UnbanRequest is the request of unban.
type UnbanRequest struct {
	Room string `json:"room"`
	User string `json:"user" doc:"the banned user"`
}

// UnbanReply is the reply of unban.
type UnbanReply struct{}

// SetRoleRequest is the request of set_role.
type SetRoleRequest struct {
	Room string `json:"room"`
	User string `json:"user" doc:"must be in the room, otherwise 'not_found field=user'"`
	Role string `json:"role" enum:"owner,admin,member" doc:"'owner', 'admin' or 'member'"`
}

// SetRoleReply is the reply of set_role.
type SetRoleReply struct{}

// MuteRequest is the request of mute. Seconds 0 ends the mute.
type MuteRequest struct {
	Room    string `json:"room"`
	User    string `json:"user" doc:"a member or former member, otherwise 'not_found field=user'"`
	Seconds int64  `json:"seconds" min:"0" doc:"0 lifts the mute"`
}

// MuteReply is the reply of mute.
type MuteReply struct{}

// UpdateRoomRequest is the request of update_room. A missing field is unchanged; an empty announcement removes the old one.
type UpdateRoomRequest struct {
	Room         string  `json:"room"`
	Name         *string `json:"name,omitempty" doc:"is trimmed; '\"\"' counts as left out; a name of blanks is 'bad_request'"`
	Announcement *string `json:"announcement,omitempty" doc:"at most 1000 characters; '\"\"' removes the announcement"`
	Invite       string  `json:"invite,omitempty" enum:"members,admins" doc:"which members may [invite](#invite): 'members', or 'admins': the owner and admins"`
	Guests       *bool   `json:"guests,omitempty" doc:"false: guests can neither join, nor come back, nor be invited"`
	Packets      *bool   `json:"packets,omitempty" doc:"false: [send_packet](packets.md#send_packet) is 'forbidden field=packets'; packets that are open go on"`
}

// UpdateRoomReply is the reply of update_room.
type UpdateRoomReply struct {
	Room Room `json:"room"`
}

// DeleteRoomRequest is the request of delete_room.
type DeleteRoomRequest struct {
	Room string `json:"room"`
}

// DeleteRoomReply is the reply of delete_room.
type DeleteRoomReply struct{}

// PresenceRequest is the request of presence.
type PresenceRequest struct {
	Room string `json:"room"`
}

// PresenceReply is the reply of presence. Users holds the ids of the members online; it is set for small rooms only.
type PresenceReply struct {
	Online int       `json:"online"`
	Users  *[]string `json:"users,omitempty"`
}

// SendRequest is the request of send.
type SendRequest struct {
	Room     string          `json:"room"`
	Key      string          `json:"key"`
	Text     string          `json:"text,omitempty" doc:"at most 4000 characters; 'text', 'data' or 'files' must be there"`
	Data     json.RawMessage `json:"data,omitempty" doc:"a JSON object of the host, such as an image URL or a sticker; at most 4096 bytes"`
	ReplyTo  int64           `json:"reply_to,omitempty" min:"1" doc:"a seq of the room, from 1 to the last one, otherwise 'bad_request'"`
	Mentions []string        `json:"mentions,omitempty" doc:"at most 50 users; they need not be members"`
	Files    []string        `json:"files,omitempty" doc:"at most 10 files that the user has uploaded to the room and not sent yet, otherwise 'conflict'"`

	MentionAll bool `json:"mention_all,omitempty" doc:"true mentions all members; only the owner and admins may, otherwise 'forbidden'"`
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
	Before *int64 `json:"before,omitempty" min:"0" doc:"a seq; both together are 'bad_request'; with none: the newest entries; 0 is a cursor ('after: 0' reads from the start)"`
	After  *int64 `json:"after,omitempty" min:"0" doc:"a seq; both together are 'bad_request'; with none: the newest entries; 0 is a cursor ('after: 0' reads from the start)"`
	Files  string `json:"files,omitempty" enum:"picture,voice,file" doc:"only texts that have files of this kind: 'picture', 'voice' or 'file'; default: all entries"`
	Limit  int    `json:"limit,omitempty" min:"1"`
}

// HistoryReply is the reply of history. PacketStates has one State for each packet entry among Entries.
type HistoryReply struct {
	Entries      []Entry `json:"entries"`
	PacketStates []State `json:"packet_states"`
	More         bool    `json:"more"`
}

// MentionsRequest is the request of mentions.
type MentionsRequest struct {
	Next  string `json:"next,omitempty"`
	Limit int    `json:"limit,omitempty" min:"1"`
}

// MentionsReply is the reply of mentions.
type MentionsReply struct {
	Mentions []Mention `json:"mentions"`
	Next     string    `json:"next,omitempty"`
}

// Mention is a text that mentions the user.
type Mention struct {
	Room  string `json:"room"`
	Entry Entry  `json:"entry"`
}

// SearchRequest is the request of search.
type SearchRequest struct {
	Words  string `json:"words" doc:"at most 200 characters, with a letter or a digit. All words must be in the text, whole, in upper or lower case, of either width; words in quotes must follow each other. A Chinese, Japanese or Korean character is a word"`
	Room   string `json:"room,omitempty" doc:"default: all rooms of the caller"`
	From   string `json:"from,omitempty" doc:"id of the sender; default: anybody"`
	Kind   string `json:"kind,omitempty" enum:"text,file,packet" doc:"'text'; 'file': a text that has files; or 'packet': found by its greeting; default: all"`
	After  *int64 `json:"after,omitempty" min:"0" doc:"Unix milliseconds; sent then or later"`
	Before *int64 `json:"before,omitempty" min:"0" doc:"Unix milliseconds; sent earlier"`
	Next   string `json:"next,omitempty"`
	Limit  int    `json:"limit,omitempty" min:"1"`
}

// SearchFiles is the kind in a SearchRequest that finds texts with files. The other kinds are kinds of entries.
const SearchFiles = "file"

// SearchReply is the reply of search. Behind says that some of the newest entries may be missing.
type SearchReply struct {
	Hits   []Hit  `json:"hits"`
	Next   string `json:"next,omitempty"`
	Behind bool   `json:"behind,omitempty"`
}

// Hit is an entry that a search has found, with the places of the words in its text or greeting.
type Hit struct {
	Room   string  `json:"room"`
	Entry  Entry   `json:"entry"`
	Places []Place `json:"places"`
}

// Place is a part of a text, in UTF-16 code units.
type Place struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// ReadRequest is the request of read.
type ReadRequest struct {
	Room string `json:"room"`
	Seq  int64  `json:"seq" min:"0" doc:"a value past the last entry counts as the last"`
}

// ReadReply is the reply of read.
type ReadReply struct {
	Unread int64 `json:"unread"`
}

// EditRequest is the request of edit.
type EditRequest struct {
	Room string `json:"room"`
	Seq  int64  `json:"seq" min:"1" doc:"of a text; an unknown seq is 'not_found field=seq', any other entry 'bad_request field=seq'"`
	Text string `json:"text" doc:"the new text"`
}

// RecallRequest is the request of recall.
type RecallRequest struct {
	Room string `json:"room"`
	Seq  int64  `json:"seq" min:"1" doc:"of a text; errors as for 'edit'"`
}

// SeqReply is the reply of edit and recall: the seq of the entry that records it.
type SeqReply struct {
	Seq int64 `json:"seq"`
}

// ReactRequest is the request of react.
type ReactRequest struct {
	Room  string `json:"room"`
	Seq   int64  `json:"seq" min:"1" doc:"of a text or a packet; another entry is 'bad_request field=seq', an unknown one 'not_found field=seq'"`
	Emoji string `json:"emoji" doc:"one emoji of Unicode, otherwise 'bad_request field=emoji'; stored in its fully qualified form ('❤' as '❤️'); to take one off, give it as the text has it"`
	On    bool   `json:"on" doc:"true puts it on, false takes it off"`
}

// ReactReply is the reply of react.
type ReactReply struct{}

// TypingSend is the data of a send, the message of the Centrifugo protocol that has no reply. It is not the method send.
type TypingSend struct {
	Typing json.RawMessage `json:"typing"` // a TypingRoom; it is decoded on its own
}

// TypingRoom names the room in which the user is typing.
type TypingRoom struct {
	Room string `json:"room"`
}
