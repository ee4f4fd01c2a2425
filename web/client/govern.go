package client

import (
	"context"
	"errors"
	"time"

	"hongbao/web/wire"
)

// Invite puts users into a room: all of them, or none.
func (c *Client) Invite(ctx context.Context, room string, users ...string) error {
	return c.Call(ctx, "invite", wire.InviteRequest{Room: room, Users: users}, new(wire.InviteReply))
}

// Kick puts a user out of a room.
func (c *Client) Kick(ctx context.Context, room, user string) error {
	return c.Call(ctx, "kick", wire.KickRequest{Room: room, User: user}, new(wire.KickReply))
}

// Ban puts a user out of a room and keeps him out.
func (c *Client) Ban(ctx context.Context, room, user string) error {
	return c.Call(ctx, "kick", wire.KickRequest{Room: room, User: user, Ban: true}, new(wire.KickReply))
}

// Unban lets a user in again. It does not put him in.
func (c *Client) Unban(ctx context.Context, room, user string) error {
	return c.Call(ctx, "unban", wire.UnbanRequest{Room: room, User: user}, new(wire.UnbanReply))
}

// SetRole makes a member owner, admin or member. There is one owner: he who makes another one is an admin from
// then on, so when the first answer is lost, the second is ErrForbidden with Repeated set.
func (c *Client) SetRole(ctx context.Context, room, user, role string) error {
	return c.Call(ctx, "set_role", wire.SetRoleRequest{Room: room, User: user, Role: role}, new(wire.SetRoleReply))
}

// Mute keeps a user from writing for so long, in whole seconds; 0 lets him write again.
func (c *Client) Mute(ctx context.Context, room, user string, d time.Duration) error {
	seconds := int64((d + time.Second - 1) / time.Second)
	return c.Call(ctx, "mute", wire.MuteRequest{Room: room, User: user, Seconds: seconds}, new(wire.MuteReply))
}

// RoomUpdate is what is to be otherwise about a room; nil stays. An empty announcement takes it away.
type RoomUpdate struct {
	Name         *string
	Announcement *string
}

// UpdateRoom changes a room's name or announcement.
func (c *Client) UpdateRoom(ctx context.Context, room string, u RoomUpdate) (Room, error) {
	var reply wire.UpdateRoomReply
	err := c.Call(ctx, "update_room", wire.UpdateRoomRequest{Room: room, Name: u.Name, Announcement: u.Announcement}, &reply)
	return roomOf(reply.Room), err
}

// DeleteRoom ends a room for everybody, for ever.
func (c *Client) DeleteRoom(ctx context.Context, room string) error {
	err := c.Call(ctx, "delete_room", wire.DeleteRoomRequest{Room: room}, new(wire.DeleteRoomReply))
	var refused *Error
	if errors.As(err, &refused) && refused.Repeated && refused.Code == wire.CodeNotFound {
		return nil // the try that was not answered did it
	}
	return err
}
