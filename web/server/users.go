package server

import (
	"context"

	"hongbao/chat"
	"hongbao/web/wire/hostapi"
)

func (s *Server) userRoutes() []Route {
	return []Route{Handle("get_user", s.getUser), Handle("put_user", s.putUser)}
}

func (s *Server) getUser(ctx context.Context, _ Caller, r *hostapi.GetUserRequest) (hostapi.UserReply, error) {
	u, err := s.o.Chat.UserRecord(ctx, r.User)
	return hostapi.UserReply{User: userOf(u)}, err
}

func (s *Server) putUser(ctx context.Context, _ Caller, r *hostapi.PutUserRequest) (hostapi.UserReply, error) {
	u, err := s.o.Chat.PutUser(ctx, r.User, r.Name, r.Avatar)
	return hostapi.UserReply{User: userOf(chat.UserRecord{User: u})}, err
}

func userOf(u chat.UserRecord) hostapi.User {
	return hostapi.User{ID: u.ID, Name: u.Name, Avatar: u.Avatar}
}
