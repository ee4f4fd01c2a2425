package server

import (
	"context"
	"encoding/json"
	"time"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
)

// rooms answers the operations on rooms.
type rooms struct{ o Config }

func (s rooms) routes() []Route {
	return []Route{
		Handle("create_room", s.createRoom), Handle("get_room", s.getRoom), Handle("list_rooms", s.listRooms), Handle("update_room", s.updateRoom),
		Handle("hand_over_room", s.handOverRoom), Handle("get_history", s.getHistory), Handle("delete_room", s.deleteRoom),
		Handle("add_members", s.addMembers).Within(time.Minute), Handle("remove_members", s.removeMembers).Within(time.Minute), Handle("get_bans", s.getBans), Handle("get_members", s.getMembers),
	}
}

func (s rooms) createRoom(ctx context.Context, c Caller, r *hostapi.CreateRoomRequest) (hostapi.CreateRoomReply, error) {
	room, dup, err := s.o.Chat.CreateHostRoom(ctx, chat.HostRoom{
		CreateRoom: chat.CreateRoom{
			Key: c.Idempotency, Name: r.Name, Kind: chat.RoomKind(r.Kind), Members: r.Members, Invite: chat.Inviters(r.Invite),
			NoGuests: r.Guests != nil && !*r.Guests, NoPackets: r.Packets != nil && !*r.Packets,
		},
		Owner: r.Owner, Ref: r.Ref, Announcement: r.Announcement,
	})
	return hostapi.CreateRoomReply{Room: roomOf(room), Dup: dup}, err
}

func (s rooms) getRoom(ctx context.Context, _ Caller, r *hostapi.RoomRequest) (hostapi.RoomReply, error) {
	return s.roomReply(ctx, r.Room, nil)
}

// roomReply returns the room as it is now, or err.
func (s rooms) roomReply(ctx context.Context, room string, err error) (hostapi.RoomReply, error) {
	if err != nil {
		return hostapi.RoomReply{}, err
	}
	record, err := s.o.Chat.RoomRecord(ctx, room)
	return hostapi.RoomReply{Room: roomOf(record)}, err
}

func (s rooms) listRooms(ctx context.Context, _ Caller, r *hostapi.ListRoomsRequest) (hostapi.ListRoomsReply, error) {
	rooms, more, err := s.o.Chat.RoomRecords(ctx, chat.RoomQuery{Ref: r.Ref, Next: r.Next, Limit: r.Limit})
	return hostapi.ListRoomsReply{Rooms: convert.List(rooms, roomOf), Next: more}, err
}

func (s rooms) updateRoom(ctx context.Context, _ Caller, r *hostapi.UpdateRoomRequest) (hostapi.RoomReply, error) {
	_, err := s.o.Chat.UpdateRoom(ctx, chat.System, r.Room, chat.RoomChange{
		Name: r.Name, Announcement: r.Announcement, Invite: chat.Inviters(r.Invite), Guests: r.Guests, Packets: r.Packets, Frozen: r.Frozen,
	})
	return s.roomReply(ctx, r.Room, err)
}

func (s rooms) handOverRoom(ctx context.Context, _ Caller, r *hostapi.HandOverRequest) (hostapi.RoomReply, error) {
	return s.roomReply(ctx, r.Room, s.o.Chat.SetRole(ctx, chat.System, r.Room, r.User, chat.Owner))
}

// getHistory runs the command history as the system.
func (s rooms) getHistory(ctx context.Context, _ Caller, r *wire.HistoryRequest) (reply wire.HistoryReply, err error) {
	err = s.callSystem(ctx, "history", r, &reply)
	return reply, err
}

// getMembers runs the command members as the system.
func (s rooms) getMembers(ctx context.Context, _ Caller, r *wire.MembersRequest) (reply wire.MembersReply, err error) {
	err = s.callSystem(ctx, "members", r, &reply)
	return reply, err
}

func (s rooms) deleteRoom(ctx context.Context, _ Caller, r *hostapi.RoomRequest) (reply wire.DeleteRoomReply, err error) {
	err = s.callSystem(ctx, "delete_room", r, &reply)
	return reply, err
}

// callSystem runs a command of users as the system.
func (s rooms) callSystem(ctx context.Context, command string, request, reply any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	answer, err := s.o.Web.CallFor(ctx, chat.System, "", command, data)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, reply)
}

func roomOf(r chat.RoomRecord) hostapi.Room {
	room := hostapi.Room{
		ID: r.ID, Ref: r.Ref, Name: r.Name, Kind: string(r.Kind), Announcement: r.Announcement, Guests: !r.NoGuests, Packets: !r.NoPackets, Frozen: r.Frozen,
		Owner: r.Owner, Members: r.Members, LastSeq: r.LastSeq, CreatedAt: convert.Millis(r.CreatedAt),
	}
	if r.Kind != chat.Direct {
		room.Invite = string(r.Inviters())
	}
	return room
}

func (s rooms) addMembers(ctx context.Context, _ Caller, r *hostapi.MembersRequest) (hostapi.MembersReply, error) {
	done, err := s.o.Chat.AddMembers(ctx, r.Room, r.Users, r.Announce)
	return s.membersReply(done), err
}

func (s rooms) removeMembers(ctx context.Context, _ Caller, r *hostapi.MembersRequest) (hostapi.MembersReply, error) {
	done, err := s.o.Chat.RemoveMembers(ctx, r.Room, r.Users, r.Announce)
	return s.membersReply(done), err
}

func (s rooms) membersReply(done chat.BulkChange) hostapi.MembersReply {
	return hostapi.MembersReply{
		Changed: done.Changed, Unchanged: done.Unchanged,
		Refused: convert.List(done.Refused, func(r chat.Refusal) hostapi.RefusedMember {
			return hostapi.RefusedMember{User: r.User, Why: s.o.Web.Failure(r.Err).Message}
		}),
	}
}

func (s rooms) getBans(ctx context.Context, _ Caller, r *hostapi.BansRequest) (hostapi.BansReply, error) {
	bans, more, err := s.o.Chat.Bans(ctx, r.Room, r.Next, r.Limit)
	return hostapi.BansReply{Next: more, Bans: convert.List(bans, func(b chat.Banned) hostapi.Ban {
		return hostapi.Ban{User: b.User.ID, Name: b.User.Name, Until: convert.Millis(b.Until), Reason: b.Reason}
	})}, err
}
