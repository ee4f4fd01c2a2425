package client

import (
	"context"
	"time"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// NewLink is an invite link to be made.
type NewLink struct {
	Room    string
	TTL     time.Duration // in whole seconds; 0: a week
	MaxUses int           // how many users may enter by it; 0: any number
}

// CreateLink makes an invite link of a room and returns it with its code, which cannot be read again. If the answer is lost, the repeated
// command makes another link; nobody has the code of the first.
func (c *Client) CreateLink(ctx context.Context, l NewLink) (link model.Link, code string, err error) {
	var reply wire.CreateLinkReply
	err = c.Call(ctx, "create_link", wire.CreateLinkRequest{Room: l.Room, TTLS: int64(l.TTL / time.Second), MaxUses: l.MaxUses}, &reply)
	return model.LinkOf(reply.Link), reply.Code, err
}

// Links returns the invite links of a room: to the owner and admins all of them, to other members their own.
func (c *Client) Links(ctx context.Context, room string) ([]model.Link, error) {
	var reply wire.LinksReply
	err := c.Call(ctx, "links", wire.LinksRequest{Room: room}, &reply)
	return mapped(reply.Links, model.LinkOf), err
}

// RevokeLink ends an invite link. A repeated RevokeLink succeeds.
func (c *Client) RevokeLink(ctx context.Context, room, link string) error {
	return c.Call(ctx, "revoke_link", wire.RevokeLinkRequest{Room: room, Link: link}, new(wire.RevokeLinkReply))
}

// JoinLink adds the user to the room of the invite link with this code.
func (c *Client) JoinLink(ctx context.Context, code string) (model.Room, error) {
	var reply wire.JoinLinkReply
	err := c.Call(ctx, "join_link", wire.JoinLinkRequest{Code: code}, &reply)
	return model.RoomOf(reply.Room), err
}
