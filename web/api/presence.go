package api

import (
	"context"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

func (a *Commands) presence(ctx context.Context, c Caller, r *wire.PresenceRequest) (wire.PresenceReply, error) {
	online, users, err := a.chat.Online(ctx, c.User.ID, r.Room)
	reply := wire.PresenceReply{Online: online}
	if users != nil { // an empty list is sent, a missing one is not
		reply.Users = &users
	}
	return reply, err
}

func (a *Commands) members(ctx context.Context, c Caller, r *wire.MembersRequest) (wire.MembersReply, error) {
	members, next, err := a.chat.Members(ctx, c.User.ID, r.Room, r.Next, r.Limit)
	if err != nil {
		return wire.MembersReply{}, err
	}
	online := a.online(ctx, members)
	reply := wire.MembersReply{Members: convert.List(members, convert.Member), Next: next}
	for i := range reply.Members {
		reply.Members[i].Online = online[i]
	}
	return reply, nil
}

// online reports for each member whether they have a socket on any instance. If the presence directory cannot be read,
// it reports only sockets on this instance.
func (a *Commands) online(ctx context.Context, members []chat.Member) []bool {
	users := make([]string, len(members))
	for i, m := range members {
		users[i] = m.User.ID
	}
	online, err := a.chat.MembersOnline(ctx, users)
	if err == nil {
		return online
	}
	a.log.Debug("presence of other instances unknown", "err", err)
	online = make([]bool, len(users))
	for i, user := range users {
		online[i] = a.connected(user)
	}
	return online
}
