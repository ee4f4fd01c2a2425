package api

import (
	"context"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

func (a *Commands) direct(ctx context.Context, c Caller, r *wire.DirectRequest) (wire.DirectReply, error) {
	m, err := a.chat.Direct(ctx, c.User, r.User)
	return wire.DirectReply{Room: convert.Membership(m)}, err
}

func (a *Commands) invite(ctx context.Context, c Caller, r *wire.InviteRequest) (wire.InviteReply, error) {
	return wire.InviteReply{}, a.chat.Invite(ctx, c.User, r.Room, r.Users)
}

func (a *Commands) kick(ctx context.Context, c Caller, r *wire.KickRequest) (wire.KickReply, error) {
	return wire.KickReply{}, a.chat.Kick(ctx, c.User, r.Room, r.User, r.Ban)
}

func (a *Commands) unban(ctx context.Context, c Caller, r *wire.UnbanRequest) (wire.UnbanReply, error) {
	return wire.UnbanReply{}, a.chat.Unban(ctx, c.User, r.Room, r.User)
}

func (a *Commands) setRole(ctx context.Context, c Caller, r *wire.SetRoleRequest) (wire.SetRoleReply, error) {
	return wire.SetRoleReply{}, a.chat.SetRole(ctx, c.User, r.Room, r.User, chat.Role(r.Role))
}

func (a *Commands) mute(ctx context.Context, c Caller, r *wire.MuteRequest) (wire.MuteReply, error) {
	return wire.MuteReply{}, a.chat.Mute(ctx, c.User, r.Room, r.User, r.Seconds)
}

func (a *Commands) updateRoom(ctx context.Context, c Caller, r *wire.UpdateRoomRequest) (wire.UpdateRoomReply, error) {
	m, err := a.chat.UpdateRoom(ctx, c.User, r.Room, chat.RoomChange{Name: r.Name, Announcement: r.Announcement})
	return wire.UpdateRoomReply{Room: convert.Membership(m)}, err
}

func (a *Commands) deleteRoom(ctx context.Context, c Caller, r *wire.DeleteRoomRequest) (wire.DeleteRoomReply, error) {
	err := a.chat.DeleteRoom(ctx, c.User, r.Room)
	if err == nil {
		a.packets.RoomDeleted(r.Room)
	}
	return wire.DeleteRoomReply{}, err
}
