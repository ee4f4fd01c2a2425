package hostapi

import "hongbao/web/wire"

var roomOperations = []Operation{
	{
		Method: wire.Method{
			Name: "create_room", Does: "Creates a room with its owner and up to 100 members; users that are unknown are made. If a room has the ref already, it is returned.",
			Request: CreateRoomRequest{}, Reply: CreateRoomReply{},
			Errors: []wire.Code{wire.CodeNotFound, wire.CodeTooLong, wire.CodeLimitExceeded, wire.CodeKeyReused},
		},
		Verb: "POST", Path: "/v1/server/rooms", Scope: Chat, Keyed: true,
		Example: CreateRoomRequest{Ref: "order-17", Name: "Order 17", Kind: "private", Owner: "ann", Members: []string{"bob"}},
	},
	{
		Method: wire.Method{
			Name: "get_room", Does: "Returns a room.", Request: RoomRequest{}, Reply: RoomReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/rooms/{room}", Scope: Read, Example: RoomRequest{Room: "r-1"},
	},
	{
		Method: wire.Method{
			Name: "list_rooms", Does: "Lists the rooms that are not deleted, also direct ones, the oldest first. With a ref it returns the room that has it.",
			Request: ListRoomsRequest{}, Reply: ListRoomsReply{},
		},
		Verb: "GET", Path: "/v1/server/rooms", Scope: Read, Example: ListRoomsRequest{Ref: "order-17"},
	},
	{
		Method: wire.Method{
			Name: "update_room", Does: "Changes a room, or freezes it: then only the system may post, and grabs go on. What the request leaves out stays.",
			Request: UpdateRoomRequest{}, Reply: RoomReply{}, Errors: []wire.Code{wire.CodeNotFound, wire.CodeTooLong},
		},
		Verb: "PUT", Path: "/v1/server/rooms/{room}", Scope: Chat, Example: UpdateRoomRequest{Room: "r-1", Frozen: new(true)},
	},
	{
		Method: wire.Method{
			Name: "hand_over_room", Does: "Makes a member the owner. The owner before becomes an admin.", Request: HandOverRequest{}, Reply: RoomReply{},
			Errors: []wire.Code{wire.CodeNotFound, wire.CodeConflict},
		},
		Verb: "POST", Path: "/v1/server/rooms/{room}/owner", Scope: Chat, Example: HandOverRequest{Room: "r-1", User: "u-bob"},
	},
	{
		Method: wire.Method{
			Name: "add_members", Does: "Adds up to 10,000 users to a room; users that are unknown are made. It adds those that may be added, and names the others.",
			Request: MembersRequest{}, Reply: MembersReply{}, Errors: []wire.Code{wire.CodeNotFound, wire.CodeLimitExceeded},
		},
		Verb: "POST", Path: "/v1/server/rooms/{room}/members", Scope: Chat, Example: MembersRequest{Room: "r-1", Users: []string{"u-eve", "cid"}, Announce: true},
	},
	{
		Method: wire.Method{
			Name: "remove_members", Does: "Removes up to 10,000 users from a room. It removes those that may be removed, and names the others.",
			Request: MembersRequest{}, Reply: MembersReply{}, Errors: []wire.Code{wire.CodeNotFound, wire.CodeLimitExceeded},
		},
		Verb: "POST", Path: "/v1/server/rooms/{room}/members/remove", Scope: Chat, Example: MembersRequest{Room: "r-1", Users: []string{"u-ann", "u-mei"}},
	},
	{
		Method: wire.Method{
			Name: "get_members", Does: "Returns a page of the members of a room, as the command members does.", Request: wire.MembersRequest{}, Reply: wire.MembersReply{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/rooms/{room}/members", Scope: Read, Example: wire.MembersRequest{Room: "r-1", Limit: 50},
	},
	{
		Method: wire.Method{
			Name: "get_bans", Does: "Lists the users that are banned from a room, by id.", Request: BansRequest{}, Reply: BansReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/rooms/{room}/bans", Scope: Read, Example: BansRequest{Room: "r-1", Limit: 100},
	},
	{
		Method: wire.Method{
			Name: "get_history", Does: "Returns a page of the entries of a room, as the command history does.", Request: wire.HistoryRequest{}, Reply: wire.HistoryReply{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/rooms/{room}/history", Scope: Read, Texts: true, Example: wire.HistoryRequest{Room: "r-1", Limit: 50},
	},
	{
		Method: wire.Method{
			Name: "delete_room", Does: "Deletes a room for good. Its open packets are closed: shares granted so far are paid, the rest is refunded.", Request: RoomRequest{}, Reply: wire.DeleteRoomReply{},
			Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "DELETE", Path: "/v1/server/rooms/{room}", Scope: Chat, Example: RoomRequest{Room: "r-1"},
	},
}

// Room is a room as the host sees it.
type Room struct {
	ID           string `json:"id"`
	Ref          string `json:"ref,omitempty"` // the host's own id
	Name         string `json:"name"`
	Kind         string `json:"kind" enum:"public,private,direct"`
	Announcement string `json:"announcement,omitempty"`
	Invite       string `json:"invite,omitempty" enum:"members,admins"` // which members may invite; missing in a direct room
	Guests       bool   `json:"guests"`                                 // guests may enter
	Packets      bool   `json:"packets"`                                // users may send packets
	Frozen       bool   `json:"frozen,omitempty"`                       // only the system may post
	Owner        string `json:"owner,omitempty"`                        // missing: the room has no members, or is a direct room
	Members      int    `json:"members"`
	LastSeq      int64  `json:"last_seq"`
	CreatedAt    int64  `json:"created_at"`
}

// RoomRequest names a room.
type RoomRequest struct {
	Room string `json:"room"`
}

// RoomReply is a reply that holds one room.
type RoomReply struct {
	Room Room `json:"room"`
}

// CreateRoomRequest is the request of create_room.
type CreateRoomRequest struct {
	Ref          string   `json:"ref,omitempty"` // the host's own id, which no other room may have
	Name         string   `json:"name"`
	Kind         string   `json:"kind,omitempty" enum:"public,private"` // "": private
	Announcement string   `json:"announcement,omitempty"`
	Owner        string   `json:"owner"`
	Members      []string `json:"members,omitempty"` // besides the owner
	Invite       string   `json:"invite,omitempty" enum:"members,admins"`
	Guests       *bool    `json:"guests,omitempty"`
	Packets      *bool    `json:"packets,omitempty"`
}

// CreateRoomReply is the reply of create_room.
type CreateRoomReply struct {
	Room Room `json:"room"`
	Dup  bool `json:"dup"` // the key or the ref was used before: nothing was changed
}

// ListRoomsRequest is the request of list_rooms.
type ListRoomsRequest struct {
	Ref   string `json:"ref,omitempty"`
	Next  string `json:"next,omitempty"` // the next of the page before; "": the first page
	Limit int    `json:"limit,omitempty" min:"1"`
}

// ListRoomsReply is the reply of list_rooms.
type ListRoomsReply struct {
	Rooms []Room `json:"rooms"`
	Next  string `json:"next,omitempty"` // for the following page; missing: there is none
}

// UpdateRoomRequest is the request of update_room. A missing field is unchanged.
type UpdateRoomRequest struct {
	Room         string  `json:"room"`
	Name         *string `json:"name,omitempty"`
	Announcement *string `json:"announcement,omitempty"` // "" removes it
	Invite       string  `json:"invite,omitempty" enum:"members,admins"`
	Guests       *bool   `json:"guests,omitempty"`
	Packets      *bool   `json:"packets,omitempty"`
	Frozen       *bool   `json:"frozen,omitempty"`
}

// HandOverRequest is the request of hand_over_room.
type HandOverRequest struct {
	Room string `json:"room"`
	User string `json:"user"` // a member
}

// MembersRequest is the request of add_members and remove_members.
type MembersRequest struct {
	Room     string   `json:"room"`
	Users    []string `json:"users"`
	Announce bool     `json:"announce,omitempty"` // one entry says so to the room; otherwise none does
}

// MembersReply is the reply of add_members and remove_members.
type MembersReply struct {
	Changed   int             `json:"changed"`   // users that were added or removed
	Unchanged int             `json:"unchanged"` // users that were members already (add_members), or were not members (remove_members)
	Refused   []RefusedMember `json:"refused"`
}

// RefusedMember is a user that was not added or removed.
type RefusedMember struct {
	User string `json:"user"`
	Why  string `json:"why"` // the message of the error, such as banned
}

// BansRequest is the request of get_bans.
type BansRequest struct {
	Room  string `json:"room"`
	Next  string `json:"next,omitempty"` // the next of the page before; "": the first page
	Limit int    `json:"limit,omitempty" min:"1"`
}

// BansReply is the reply of get_bans.
type BansReply struct {
	Bans []Ban  `json:"bans"`
	Next string `json:"next,omitempty"` // for the following page; missing: there is none
}

// Ban is a user that is banned from a room.
type Ban struct {
	User   string `json:"user"`
	Name   string `json:"name"`
	Until  int64  `json:"until,omitempty"` // when the ban ends; missing: it does not
	Reason string `json:"reason,omitempty"`
}
