package web

import (
	"context"

	"hongbao/chat"
	"hongbao/web/wire"
)

func (s *Server) presence(ctx context.Context, c Caller, r *wire.PresenceRequest) (wire.PresenceReply, error) {
	online, users, err := s.chat.Online(ctx, c.User.ID, r.Room)
	reply := wire.PresenceReply{Online: online}
	if users != nil { // nobody is a list, too
		reply.Users = &users
	}
	return reply, err
}

func (s *Server) members(ctx context.Context, c Caller, r *wire.MembersRequest) (wire.MembersReply, error) {
	members, next, err := s.chat.Members(ctx, c.User.ID, r.Room, r.Next, r.Limit)
	if err != nil {
		return wire.MembersReply{}, err
	}
	online := s.online(ctx, members)
	reply := wire.MembersReply{Members: mapped(members, wireMember), Next: next}
	for i := range reply.Members {
		reply.Members[i].Online = online[i]
	}
	return reply, nil
}

// online tells which members have a socket; of this instance, when nobody can say for all.
func (s *Server) online(ctx context.Context, members []chat.Member) []bool {
	users := make([]string, len(members))
	for i, m := range members {
		users[i] = m.User.ID
	}
	online, err := s.chat.MembersOnline(ctx, users)
	if err == nil {
		return online
	}
	s.o.Log.Debug("who is online elsewhere is not known", "err", err)
	online = make([]bool, len(users))
	for i, user := range users {
		online[i] = s.hub.Listeners(userTopic(user)) > 0
	}
	return online
}
