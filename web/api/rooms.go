package api

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

func (a *Commands) createRoom(ctx context.Context, c Caller, r *wire.CreateRoomRequest) (wire.CreateRoomReply, error) {
	m, dup, err := a.chat.CreateRoom(ctx, c.User, chat.CreateRoom{
		Key: r.Key, Name: r.Name, Kind: chat.RoomKind(r.Kind), Members: r.Members,
	})
	return wire.CreateRoomReply{Room: convert.Membership(m), Dup: dup}, err
}

func (a *Commands) join(ctx context.Context, c Caller, r *wire.JoinRequest) (wire.JoinReply, error) {
	m, err := a.chat.Join(ctx, c.User, r.Room)
	return wire.JoinReply{Room: convert.Membership(m)}, err
}

func (a *Commands) leave(ctx context.Context, c Caller, r *wire.LeaveRequest) (wire.LeaveReply, error) {
	return wire.LeaveReply{}, a.chat.Leave(ctx, c.User, r.Room)
}

func (a *Commands) findRooms(ctx context.Context, _ Caller, r *wire.FindRoomsRequest) (wire.FindRoomsReply, error) {
	rooms, next, err := a.chat.FindRooms(ctx, r.Query, r.Next, r.Limit)
	return wire.FindRoomsReply{Rooms: convert.List(rooms, convert.Room), Next: next}, err
}

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

// Limits returns the limits that the server tells its clients: those of the services, and the defaults of package wire
// for the others. The caller sets the limits that depend on the server's options.
func (a *Commands) Limits() wire.Limits {
	l := wire.DefaultLimits()
	c, p := a.chat.Limits(), a.packets.Limits()
	l.TextChars, l.DataBytes, l.EmojiChars, l.Mentions = c.TextChars, c.DataBytes, c.EmojiChars, c.Mentions
	l.NameChars, l.AnnouncementChars = c.NameChars, c.AnnouncementChars
	l.InviteUsers, l.RoomMembers, l.Rooms = c.InviteUsers, c.RoomMembers, c.Rooms
	l.PacketTotal, l.PacketCount, l.PacketTo = int64(p.MaxTotal), p.MaxCount, p.To
	l.GreetingChars, l.PassphraseChars = p.GreetingChars, p.PassphraseChars
	l.TTLMinS, l.TTLMaxS, l.TTLDefaultS = seconds(p.MinTTL), seconds(p.MaxTTL), seconds(p.DefaultTTL)
	return l
}

func seconds(d time.Duration) int { return int(d / time.Second) }
