package web

import (
	"context"

	"hongbao/chat"
	"hongbao/web/wire"
)

func (s *Server) direct(ctx context.Context, c Caller, r *wire.DirectRequest) (wire.DirectReply, error) {
	m, err := s.chat.Direct(ctx, c.User, r.User)
	return wire.DirectReply{Room: wireMembership(m)}, err
}

func (s *Server) invite(ctx context.Context, c Caller, r *wire.InviteRequest) (wire.InviteReply, error) {
	return wire.InviteReply{}, s.chat.Invite(ctx, c.User, r.Room, r.Users)
}

func (s *Server) kick(ctx context.Context, c Caller, r *wire.KickRequest) (wire.KickReply, error) {
	return wire.KickReply{}, s.chat.Kick(ctx, c.User, r.Room, r.User, r.Ban)
}

func (s *Server) unban(ctx context.Context, c Caller, r *wire.UnbanRequest) (wire.UnbanReply, error) {
	return wire.UnbanReply{}, s.chat.Unban(ctx, c.User, r.Room, r.User)
}

func (s *Server) setRole(ctx context.Context, c Caller, r *wire.SetRoleRequest) (wire.SetRoleReply, error) {
	return wire.SetRoleReply{}, s.chat.SetRole(ctx, c.User, r.Room, r.User, chat.Role(r.Role))
}

func (s *Server) mute(ctx context.Context, c Caller, r *wire.MuteRequest) (wire.MuteReply, error) {
	return wire.MuteReply{}, s.chat.Mute(ctx, c.User, r.Room, r.User, r.Seconds)
}

func (s *Server) updateRoom(ctx context.Context, c Caller, r *wire.UpdateRoomRequest) (wire.UpdateRoomReply, error) {
	m, err := s.chat.UpdateRoom(ctx, c.User, r.Room, chat.RoomChange{Name: r.Name, Announcement: r.Announcement})
	return wire.UpdateRoomReply{Room: wireMembership(m)}, err
}

func (s *Server) deleteRoom(ctx context.Context, c Caller, r *wire.DeleteRoomRequest) (wire.DeleteRoomReply, error) {
	return wire.DeleteRoomReply{}, s.chat.DeleteRoom(ctx, c.User, r.Room)
}
