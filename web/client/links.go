package client

import (
	"cmp"
	"context"
	"time"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// NewLink is an invite link to be made.
type NewLink struct {
	Room    string
	Key     string        // identifies the link while it exists; "": a random key is used
	TTL     time.Duration // in whole seconds; 0: a week
	MaxUses int           // how many users may enter through the link; 0: any number

	Approval bool // the owner or an admin must let in each user that follows the link
}

// CreateLink makes an invite link of a room and returns it with its code. Only CreateLink returns the code: a later call with the
// same key returns the same link and code. It repeats the command until it is answered; one link is made.
func (c *Client) CreateLink(ctx context.Context, l NewLink) (link model.Link, code string, err error) {
	var reply wire.CreateLinkReply
	err = c.Call(ctx, "create_link", wire.CreateLinkRequest{
		Room: l.Room, Key: cmp.Or(l.Key, newKey()), TTLS: int64(l.TTL / time.Second), MaxUses: l.MaxUses, Approval: l.Approval,
	}, &reply)
	return model.LinkOf(reply.Link), reply.Code, err
}

// JoinLink adds the user to the room of the invite link with this code. If the link needs approval, waiting is true and room is
// zero: the event Entered tells when the user was let in, and JoinRefused when the request was dropped.
func (c *Client) JoinLink(ctx context.Context, code string) (room model.Room, waiting bool, err error) {
	var reply wire.JoinLinkReply
	if err = c.Call(ctx, "join_link", wire.JoinLinkRequest{Code: code}, &reply); err == nil && reply.Room != nil {
		room = model.RoomOf(*reply.Room)
	}
	return room, reply.Waiting, err
}

func joinRequestOf(r wire.AskingUser) model.JoinRequest {
	return model.JoinRequest{User: r.User, At: model.TimeOf(r.At)}
}
