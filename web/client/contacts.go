package client

import (
	"context"
	"slices"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// Contacts is what the user has decided about contact with others.
type Contacts struct {
	Contact string // everyone, shared (users of a common room), nobody
	Blocked []model.User
}

// Contacts returns the user's contact setting and the users that the user has blocked.
func (c *Client) Contacts(ctx context.Context) (Contacts, error) {
	var reply wire.ContactsReply
	err := c.Call(ctx, "contacts", wire.ContactsRequest{}, &reply)
	return Contacts{reply.Contact, reply.Blocked}, err
}

// usersPerCall is how many ids the server takes at once.
const usersPerCall = 100

// Users returns the names and avatars of users by id. It leaves out users that share no room with the user, because the user
// may not see their names. A direct room counts only if the other user has chosen to be in it.
func (c *Client) Users(ctx context.Context, ids ...string) (map[string]model.User, error) {
	known := make(map[string]model.User, len(ids))
	for chunk := range slices.Chunk(ids, usersPerCall) {
		var reply wire.UsersReply
		if err := c.Call(ctx, "users", wire.UsersRequest{Users: chunk}, &reply); err != nil {
			return nil, err
		}
		for _, u := range reply.Users {
			known[u.ID] = u
		}
	}
	return known, nil
}
