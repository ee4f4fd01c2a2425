package wire

// CreateRoomRequest is the request of create_room.
type CreateRoomRequest struct {
	Key     string   `json:"key"`
	Name    string   `json:"name"`
	Kind    string   `json:"kind,omitempty" enum:"public,private"`
	Members []string `json:"members,omitempty"`
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
	Query string `json:"query,omitempty"`
	Next  string `json:"next,omitempty"`
	Limit int    `json:"limit,omitempty" min:"1"`
}

// FindRoomsReply is the reply of find_rooms.
type FindRoomsReply struct {
	Rooms []Room `json:"rooms"`
	Next  string `json:"next,omitempty"`
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
}

// DirectRequest is the request of direct.
type DirectRequest struct {
	User string `json:"user"`
}

// DirectReply is the reply of direct.
type DirectReply struct {
	Room Room `json:"room"`
}

// InviteRequest is the request of invite.
type InviteRequest struct {
	Room  string   `json:"room"`
	Users []string `json:"users"`
}

// InviteReply is the reply of invite.
type InviteReply struct{}

// KickRequest is the request of kick.
type KickRequest struct {
	Room string `json:"room"`
	User string `json:"user"`
	Ban  bool   `json:"ban,omitempty"`
}

// KickReply is the reply of kick.
type KickReply struct{}

// UnbanRequest is the request of unban.
type UnbanRequest struct {
	Room string `json:"room"`
	User string `json:"user"`
}

// UnbanReply is the reply of unban.
type UnbanReply struct{}

// SetRoleRequest is the request of set_role.
type SetRoleRequest struct {
	Room string `json:"room"`
	User string `json:"user"`
	Role string `json:"role" enum:"owner,admin,member"`
}

// SetRoleReply is the reply of set_role.
type SetRoleReply struct{}

// MuteRequest is the request of mute; 0 ends the mute.
type MuteRequest struct {
	Room    string `json:"room"`
	User    string `json:"user"`
	Seconds int64  `json:"seconds" min:"0"`
}

// MuteReply is the reply of mute.
type MuteReply struct{}

// UpdateRoomRequest is the request of update_room. A missing field is unchanged; an empty announcement removes the
// old one.
type UpdateRoomRequest struct {
	Room         string  `json:"room"`
	Name         *string `json:"name,omitempty"`
	Announcement *string `json:"announcement,omitempty"`
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

// PresenceReply is the reply of presence. Users, by id, is set for small rooms only.
type PresenceReply struct {
	Online int       `json:"online"`
	Users  *[]string `json:"users,omitempty"`
}
