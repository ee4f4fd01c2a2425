package client

import (
	"context"
	"errors"
	"time"

	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// Kick removes a user from a room.
func (c *Client) Kick(ctx context.Context, room, user string) error {
	return c.Call(ctx, "kick", wire.KickRequest{Room: room, User: user}, new(wire.KickReply))
}

// Ban removes a user from a room. The user cannot come back until Unban.
func (c *Client) Ban(ctx context.Context, room, user string) error {
	return c.Call(ctx, "kick", wire.KickRequest{Room: room, User: user, Ban: true}, new(wire.KickReply))
}

// BanUntil is Ban for a time: the user may come back after until. Only the host sees the reason.
// If it is "", the reason of an earlier ban stays.
func (c *Client) BanUntil(ctx context.Context, room, user string, until time.Time, reason string) error {
	return c.Call(ctx, "kick", wire.KickRequest{Room: room, User: user, Ban: true, Until: until.UnixMilli(), Reason: reason}, new(wire.KickReply))
}

// Mute forbids a user to send to the room for the duration, rounded up to whole seconds; 0 ends the mute.
func (c *Client) Mute(ctx context.Context, room, user string, d time.Duration) error {
	seconds := int64((d + time.Second - 1) / time.Second)
	return c.Call(ctx, "mute", wire.MuteRequest{Room: room, User: user, Seconds: seconds}, new(wire.MuteReply))
}

// RoomUpdate holds the new values of a room. A nil field or an empty Invite changes nothing. An Announcement that points to ""
// removes the old one.
type RoomUpdate struct {
	Name         *string
	Announcement *string
	Invite       string // which members may invite users: members or admins
	Guests       *bool  // whether guests may enter; guests that are members stay
	Packets      *bool  // whether users may send packets; packets that are open go on
}

// UpdateRoom changes a room's name, announcement or settings.
func (c *Client) UpdateRoom(ctx context.Context, room string, u RoomUpdate) (model.Room, error) {
	var reply wire.UpdateRoomReply
	err := c.Call(ctx, "update_room", wire.UpdateRoomRequest{
		Room: room, Name: u.Name, Announcement: u.Announcement, Invite: u.Invite, Guests: u.Guests, Packets: u.Packets,
	}, &reply)
	return model.RoomOf(reply.Room), err
}

// DeleteRoom deletes a room permanently.
func (c *Client) DeleteRoom(ctx context.Context, room string) error {
	err := c.Call(ctx, "delete_room", wire.DeleteRoomRequest{Room: room}, new(wire.DeleteRoomReply))
	var refused *Error
	if errors.As(err, &refused) && refused.Repeated && refused.Code == wire.CodeNotFound {
		return nil // an earlier try was not answered, and has deleted the room
	}
	return err
}
