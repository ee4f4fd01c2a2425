package server

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/host/hostapi"
)

// users answers the operations on users.
type users struct{ o Config }

func (s users) routes() []Route {
	return []Route{
		Handle("get_user", s.getUser), Handle("list_users", s.listUsers), Handle("find_users", s.findUsers), Handle("get_user_rooms", s.getUserRooms), Handle("get_sockets", s.getSockets),
		Handle("put_user", s.putUser), Handle("put_users", s.putUsers).Within(time.Minute),
		Handle("suspend_user", s.suspendUser), Handle("reinstate_user", s.reinstateUser),
	}
}

func (s users) getUser(ctx context.Context, _ Caller, r *hostapi.GetUserRequest) (hostapi.UserReply, error) {
	u, err := s.o.Chat.UserRecord(ctx, r.User)
	return hostapi.UserReply{User: userOf(u)}, err
}

func (s users) listUsers(ctx context.Context, _ Caller, r *hostapi.ListUsersRequest) (hostapi.ListUsersReply, error) {
	users, more, err := s.o.Chat.UserRecords(ctx, chat.UserQuery{Suspended: r.Suspended, RefPrefix: r.RefPrefix, Name: r.Name, Next: r.Next, Limit: r.Limit})
	return hostapi.ListUsersReply{Users: convert.List(users, userOf), Next: more}, err
}

func (s users) findUsers(ctx context.Context, _ Caller, r *hostapi.FindUsersRequest) (hostapi.PutUsersReply, error) {
	users, err := s.o.Chat.UserRecordsOf(ctx, r.Users, r.Refs)
	return hostapi.PutUsersReply{Users: convert.List(users, userOf)}, err
}

func (s users) getUserRooms(ctx context.Context, _ Caller, r *hostapi.UserRoomsRequest) (hostapi.UserRoomsReply, error) {
	if _, err := s.o.Chat.UserRecord(ctx, r.User); err != nil {
		return hostapi.UserRoomsReply{}, err
	}
	in, more, err := s.o.Chat.RoomsPage(ctx, r.User, r.Next, r.Limit)
	return hostapi.UserRoomsReply{Next: more, Rooms: convert.List(in, func(m chat.Membership) hostapi.UserRoom {
		return hostapi.UserRoom{Room: convert.Membership(m), MutedUntil: convert.Millis(m.MutedUntil), JoinedSeq: m.JoinedSeq, ReadSeq: m.ReadSeq}
	})}, err
}

func (s users) getSockets(ctx context.Context, _ Caller, r *hostapi.GetSocketsRequest) (reply hostapi.SocketsReply, err error) {
	limit, err := pageSize(r.Limit)
	if err == nil {
		reply.Sockets, reply.Next, err = s.o.Trail.SocketsOf(ctx, r.User, r.Next, limit)
	}
	return reply, err
}

func (s users) putUser(ctx context.Context, _ Caller, r *hostapi.PutUserRequest) (hostapi.UserReply, error) {
	u, err := s.o.Chat.PutUser(ctx, chat.UserChange(*r))
	if err == nil {
		s.o.Web.Renamed(ctx, u.ID)
	}
	return hostapi.UserReply{User: userOf(u)}, err
}

func (s users) putUsers(ctx context.Context, _ Caller, r *hostapi.PutUsersRequest) (hostapi.PutUsersReply, error) {
	stored, err := s.o.Chat.PutUsers(ctx, convert.List(r.Users, func(u hostapi.PutUserRequest) chat.UserChange { return chat.UserChange(u) }))
	for _, u := range stored {
		s.o.Web.Renamed(ctx, u.ID)
	}
	return hostapi.PutUsersReply{Users: convert.List(stored, userOf)}, err
}

// suspendUser suspends a user and then closes the user's sockets. In this order, a client cannot reconnect. A repeated request
// closes sockets again, because the first request may have failed between the two steps.
func (s users) suspendUser(ctx context.Context, _ Caller, r *hostapi.GetUserRequest) (hostapi.UserReply, error) {
	u, err := s.o.Chat.Suspend(ctx, r.User)
	if err != nil {
		return hostapi.UserReply{}, err
	}
	s.o.Web.DisconnectSuspended(u.ID)
	return hostapi.UserReply{User: userOf(u)}, nil
}

func (s users) reinstateUser(ctx context.Context, _ Caller, r *hostapi.GetUserRequest) (hostapi.UserReply, error) {
	u, err := s.o.Chat.Reinstate(ctx, r.User)
	return hostapi.UserReply{User: userOf(u)}, err
}

func userOf(u chat.UserRecord) hostapi.User {
	user := hostapi.User{ID: u.ID, Name: u.Name, Avatar: u.Avatar, Ref: u.Ref, Custom: u.Custom}
	if u.Suspended() {
		user.SuspendedAt = u.SuspendedAt.UnixMilli()
	}
	if u.Erased() {
		user.ErasedAt = u.ErasedAt.UnixMilli()
	}
	return user
}
