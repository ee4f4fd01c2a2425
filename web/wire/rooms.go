package wire

// CreateRoomRequest is the request of create_room.
type CreateRoomRequest struct {
	Key     string   `json:"key"`
	Name    string   `json:"name"`
	Kind    string   `json:"kind,omitempty"`
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
	Role       string `json:"role"`
	Online     bool   `json:"online"`
	MutedUntil int64  `json:"muted_until,omitempty"`
}
