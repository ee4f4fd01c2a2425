package api

import (
	"context"

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
