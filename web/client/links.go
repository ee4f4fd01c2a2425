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

// JoinLink adds the user to the room of the invite link with this code. If the link needs approval, waiting is true and room is
// zero: the event Entered tells when the user was let in, and JoinRefused when the request was dropped.
func (c *Client) JoinLink(ctx context.Context, code string) (room model.Room, waiting bool, err error) {
	var reply wire.JoinLinkReply
	if err = c.Call(ctx, "join_link", wire.JoinLinkRequest{Code: code}, &reply); err == nil && reply.Room != nil {
		room = model.RoomOf(*reply.Room)
	}
	return room, reply.Waiting, err
}

// JoinRequests returns the users that ask to enter a room. Only the owner and admins may call it.
func (c *Client) JoinRequests(ctx context.Context, room string) ([]model.JoinRequest, error) {
	var reply wire.JoinRequestsReply
	err := c.Call(ctx, "join_requests", wire.JoinRequestsRequest{Room: room}, &reply)
	return mapped(reply.Requests, func(r wire.AskingUser) model.JoinRequest {
		return model.JoinRequest{User: r.User, At: model.TimeOf(r.At)}
	}), err
}

// AnswerRequest answers a user's request to enter a room: it lets the user in (admit) or drops the request.
func (c *Client) AnswerRequest(ctx context.Context, room, user string, admit bool) error {
	return c.Call(ctx, "answer_request", wire.AnswerRequestRequest{Room: room, User: user, Admit: admit}, new(wire.AnswerRequestReply))
}
