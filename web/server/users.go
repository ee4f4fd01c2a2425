package server

import (
	"context"
	"time"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/wire/hostapi"
)

func (s *Server) userRoutes() []Route {
	return []Route{Handle("get_user", s.getUser), Handle("put_user", s.putUser), Handle("put_users", s.putUsers).Within(time.Minute)}
}

func (s *Server) getUser(ctx context.Context, _ Caller, r *hostapi.GetUserRequest) (hostapi.UserReply, error) {
	u, err := s.o.Chat.UserRecord(ctx, r.User)
	return hostapi.UserReply{User: userOf(u)}, err
}

func (s *Server) putUser(ctx context.Context, _ Caller, r *hostapi.PutUserRequest) (hostapi.UserReply, error) {
	u, err := s.o.Chat.PutUser(ctx, chat.UserChange(*r))
	return hostapi.UserReply{User: userOf(chat.UserRecord{User: u})}, err
}

func (s *Server) putUsers(ctx context.Context, _ Caller, r *hostapi.PutUsersRequest) (hostapi.PutUsersReply, error) {
	stored, err := s.o.Chat.PutUsers(ctx, convert.List(r.Users, func(u hostapi.PutUserRequest) chat.UserChange { return chat.UserChange(u) }))
	return hostapi.PutUsersReply{Users: convert.List(stored, func(u chat.User) hostapi.User { return userOf(chat.UserRecord{User: u}) })}, err
}

func userOf(u chat.UserRecord) hostapi.User {
	return hostapi.User{ID: u.ID, Name: u.Name, Avatar: u.Avatar}
}
