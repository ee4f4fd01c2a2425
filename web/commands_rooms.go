package web

import (
	"context"

	"hongbao/chat"
	"hongbao/web/wire"
)

func (s *Server) createRoom(ctx context.Context, c Caller, r *wire.CreateRoomRequest) (wire.CreateRoomReply, error) {
	m, dup, err := s.chat.CreateRoom(ctx, c.User, chat.CreateRoom{
		Key: r.Key, Name: r.Name, Kind: chat.RoomKind(r.Kind), Members: r.Members,
	})
	return wire.CreateRoomReply{Room: wireMembership(m), Dup: dup}, err
}

func (s *Server) join(ctx context.Context, c Caller, r *wire.JoinRequest) (wire.JoinReply, error) {
	m, err := s.chat.Join(ctx, c.User, r.Room)
	return wire.JoinReply{Room: wireMembership(m)}, err
}

func (s *Server) leave(ctx context.Context, c Caller, r *wire.LeaveRequest) (wire.LeaveReply, error) {
	return wire.LeaveReply{}, s.chat.Leave(ctx, c.User, r.Room)
}

func (s *Server) findRooms(ctx context.Context, _ Caller, r *wire.FindRoomsRequest) (wire.FindRoomsReply, error) {
	rooms, next, err := s.chat.FindRooms(ctx, r.Query, r.Next, r.Limit)
	return wire.FindRoomsReply{Rooms: mapped(rooms, wireRoom), Next: next}, err
}
