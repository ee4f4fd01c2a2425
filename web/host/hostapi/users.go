package hostapi

import (
	"encoding/json"

	"hongbao/web/wire"
)

var userOperations = []Operation{
	{
		Method: wire.Method{
			Name: "put_user", Does: "Creates a user, or changes one. What the request leaves out stays.",
			Request: PutUserRequest{}, Reply: UserReply{}, Errors: []wire.Code{wire.CodeTooLong, wire.CodeConflict},
		},
		Verb: "PUT", Path: "/v1/server/users/{user}", Scope: Chat,
		Example: PutUserRequest{User: "ann", Name: new("Ann"), Ref: new("customer-17"), Custom: json.RawMessage(`{"tier":"gold"}`)},
	},
	{
		Method: wire.Method{
			Name: "put_users", Does: "Creates or changes up to 1,000 users. If one of them is faulty, none is stored. After conflict, all are but those whose ref is taken. After unavailable some may be: repeat it.",
			Request: PutUsersRequest{}, Reply: PutUsersReply{}, Errors: []wire.Code{wire.CodeTooLong, wire.CodeLimitExceeded, wire.CodeConflict},
		},
		Verb: "POST", Path: "/v1/server/users", Scope: Chat,
		Example: PutUsersRequest{Users: []PutUserRequest{{User: "ann", Name: new("Ann")}, {User: "bob", Name: new("Bob")}}},
	},
	{
		Method: wire.Method{
			Name: "get_user", Does: "Returns a user.", Request: GetUserRequest{}, Reply: UserReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/users/{user}", Scope: Read, Example: GetUserRequest{User: "ann"},
	},
	{
		Method: wire.Method{
			Name: "list_users", Does: "Lists users by id, also guests. With a ref_prefix it lists users by ref. With a name, a page may be empty and have a next.",
			Request: ListUsersRequest{}, Reply: ListUsersReply{},
		},
		Verb: "GET", Path: "/v1/server/users", Scope: Read, Example: ListUsersRequest{RefPrefix: "customer-", Limit: 100},
	},
	{
		Method: wire.Method{
			Name: "find_users", Does: "Returns those of up to 1,000 users that exist, by id or by the host's own id.",
			Request: FindUsersRequest{}, Reply: PutUsersReply{}, Errors: []wire.Code{wire.CodeLimitExceeded},
		},
		Verb: "POST", Path: "/v1/server/users/find", Scope: Read, Example: FindUsersRequest{Users: []string{"ann"}, Refs: []string{"customer-17"}},
	},
	{
		Method: wire.Method{
			Name: "get_user_rooms", Does: "Lists the rooms that a user is in, the newest room first. A page may have fewer rooms than the limit and have a next.",
			Request: UserRoomsRequest{}, Reply: UserRoomsReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/users/{user}/rooms", Scope: Read, Example: UserRoomsRequest{User: "u-bob", Limit: 10},
	},
	{
		Method: wire.Method{
			Name: "get_sockets", Does: "Lists when sockets of a user were opened and how they ended, of the last 7 days, newest first.",
			Request: GetSocketsRequest{}, Reply: SocketsReply{},
		},
		Verb: "GET", Path: "/v1/server/users/{user}/sockets", Scope: Read, Example: GetSocketsRequest{User: "bob", Limit: 10},
	},
	{
		Method: wire.Method{
			Name:    "suspend_user",
			Does:    "Refuses all tokens of a user, whenever they were issued, and closes the user's sockets. It lasts until the user is reinstated.",
			Request: GetUserRequest{}, Reply: UserReply{},
		},
		Verb: "POST", Path: "/v1/server/users/{user}/suspend", Scope: Moderate, Example: GetUserRequest{User: "bob"},
	},
	{
		Method: wire.Method{
			Name: "reinstate_user", Does: "Ends the suspension of a user.", Request: GetUserRequest{}, Reply: UserReply{}, Errors: []wire.Code{wire.CodeNotFound, wire.CodeConflict},
		},
		Verb: "POST", Path: "/v1/server/users/{user}/reinstate", Scope: Moderate, Example: GetUserRequest{User: "bob"},
	},
}

// User is a user as the host sees it.
type User struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"` // "": neither a token nor the host has given one
	Avatar      string          `json:"avatar,omitempty"`
	Ref         string          `json:"ref,omitempty"`          // the host's own id
	Custom      json.RawMessage `json:"custom,omitempty"`       // an object of the host, which no client sees
	SuspendedAt int64           `json:"suspended_at,omitempty"` // missing: the user is not suspended
	ErasedAt    int64           `json:"erased_at,omitempty"`    // missing: the user is not erased
}

// GetUserRequest is the request of get_user, suspend_user and reinstate_user.
type GetUserRequest struct {
	User string `json:"user"`
}

// ListUsersRequest is the request of list_users.
type ListUsersRequest struct {
	Suspended bool   `json:"suspended,omitempty"`  // only suspended users
	RefPrefix string `json:"ref_prefix,omitempty"` // only users whose ref begins with it
	Name      string `json:"name,omitempty"`       // only users whose name contains it; case does not matter for A to Z
	Next      string `json:"next,omitempty"`       // the next of the page before; "": the first page
	Limit     int    `json:"limit,omitempty" min:"1"`
}

// ListUsersReply is the reply of list_users.
type ListUsersReply struct {
	Users []User `json:"users"`
	Next  string `json:"next,omitempty"` // for the following page; missing: there is none
}

// UserRoomsRequest is the request of get_user_rooms.
type UserRoomsRequest struct {
	User  string `json:"user"`
	Next  string `json:"next,omitempty"`          // the next of the page before; missing: the first page
	Limit int    `json:"limit,omitempty" min:"1"` // at most 100; missing: 50
}

// UserRoomsReply is the reply of get_user_rooms.
type UserRoomsReply struct {
	Rooms []UserRoom `json:"rooms"`
	Next  string     `json:"next,omitempty"` // missing: it is the last page
}

// UserRoom is a room with the standing of one of its members.
type UserRoom struct {
	wire.Room // with the role

	MutedUntil int64 `json:"muted_until,omitempty"` // missing: the user was never muted
	JoinedSeq  int64 `json:"joined_seq"`            // the room's last seq when the user has entered
	ReadSeq    int64 `json:"read_seq"`              // up to where the user has read
}

// GetSocketsRequest is the request of get_sockets.
type GetSocketsRequest struct {
	User  string `json:"user"`
	Next  string `json:"next,omitempty"`          // the next of the page before; missing: the first page
	Limit int    `json:"limit,omitempty" min:"1"` // at most 1000; missing: 100
}

// SocketsReply is the reply of get_sockets.
type SocketsReply struct {
	Sockets []SocketEvent `json:"sockets"`
	Next    string        `json:"next,omitempty"` // missing: it is the last page
}

// SocketEvent is that a socket of a user was opened, or ended. If its instance was killed, its end is missing.
type SocketEvent struct {
	Socket string `json:"socket"` // its id, which the connect reply calls client
	At     int64  `json:"at"`
	What   string `json:"what" enum:"opened,left,lost,closed"` // left: the client closed it; lost: the connection broke; closed: the server closed it
	Code   int    `json:"code,omitempty"`                      // of closed: the close code
}

// FindUsersRequest is the request of find_users.
type FindUsersRequest struct {
	Users []string `json:"users,omitempty"`
	Refs  []string `json:"refs,omitempty"`
}

// PutUserRequest is the request of put_user. A missing field is unchanged.
type PutUserRequest struct {
	User   string          `json:"user"`
	Name   *string         `json:"name,omitempty"`
	Avatar *string         `json:"avatar,omitempty"` // an address of http or https; "": none
	Ref    *string         `json:"ref,omitempty"`    // the host's own id, which no other user may have; "": none
	Custom json.RawMessage `json:"custom,omitempty"` // an object of at most 4096 bytes; it replaces the earlier one; {} removes it
}

// PutUsersRequest is the request of put_users.
type PutUsersRequest struct {
	Users []PutUserRequest `json:"users"`
}

// PutUsersReply is the reply of put_users, in the order of the request, and of find_users, in any order.
type PutUsersReply struct {
	Users []User `json:"users"`
}

// UserReply is a reply that holds one user.
type UserReply struct {
	User User `json:"user"`
}
