package hostapi

import "hongbao/web/wire"

var userOperations = []Operation{
	{
		Method: wire.Method{
			Name: "get_user", Does: "Returns a user.", Request: GetUserRequest{}, Reply: UserReply{}, Errors: []wire.Code{wire.CodeNotFound},
		},
		Verb: "GET", Path: "/v1/server/users/{user}", Scope: Read, Example: GetUserRequest{User: "ann"},
	},
	{
		Method: wire.Method{
			Name: "put_user", Does: "Creates a user, or changes the name and avatar of one. What the request leaves out stays.",
			Request: PutUserRequest{}, Reply: UserReply{}, Errors: []wire.Code{wire.CodeTooLong},
		},
		Verb: "PUT", Path: "/v1/server/users/{user}", Scope: Chat, Example: PutUserRequest{User: "ann", Name: new("Ann")},
	},
	{
		Method: wire.Method{
			Name: "put_users", Does: "Creates or changes up to 1,000 users. If one of them is faulty, none is stored. After another error some may be: repeat it.",
			Request: PutUsersRequest{}, Reply: PutUsersReply{}, Errors: []wire.Code{wire.CodeTooLong, wire.CodeLimitExceeded},
		},
		Verb: "POST", Path: "/v1/server/users", Scope: Chat,
		Example: PutUsersRequest{Users: []PutUserRequest{{User: "ann", Name: new("Ann")}, {User: "bob", Name: new("Bob")}}},
	},
}

// User is a user as the host sees it.
type User struct {
	ID     string `json:"id"`
	Name   string `json:"name"` // "": no token and no upsert has given one
	Avatar string `json:"avatar,omitempty"`
}

// GetUserRequest is the request of get_user.
type GetUserRequest struct {
	User string `json:"user"`
}

// PutUserRequest is the request of put_user.
type PutUserRequest struct {
	User   string  `json:"user"`
	Name   *string `json:"name,omitempty"`
	Avatar *string `json:"avatar,omitempty"` // an address of http or https; "": none
}

// PutUsersRequest is the request of put_users.
type PutUsersRequest struct {
	Users []PutUserRequest `json:"users"`
}

// PutUsersReply is the reply of put_users. The users are in the order of the request.
type PutUsersReply struct {
	Users []User `json:"users"`
}

// UserReply is a reply that holds one user.
type UserReply struct {
	User User `json:"user"`
}
