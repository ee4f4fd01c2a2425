package session

import (
	"context"
	"errors"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/convert"
	"hongbao/web/push"
	"hongbao/web/wire"
)

// welcome subscribes the connection to the user's rooms and returns the contents of the connect reply.
func (o *opener) welcome(ctx context.Context) (*protocol.ConnectResult, error) {
	c, user := &o.s.m.c, o.identity.User
	account, err := c.Packets.Account(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	memberships, err := o.subscribe(ctx)
	if err != nil {
		return nil, err
	}
	subs := make(map[string]*protocol.SubscribeResult, len(memberships))
	var gaps []gap
	for _, m := range memberships {
		channel, position := wire.RoomChannel(m.Room.ID), m.Room.LastSeq
		sub := &protocol.SubscribeResult{Recoverable: true, Positioned: true, Epoch: o.epoch, Offset: uint64(position)}
		subs[channel] = sub
		if has := o.subs[channel]; has.GetRecover() {
			sub.WasRecovering = true
			if has.Epoch == o.epoch && has.Offset <= sub.Offset {
				gaps = append(gaps, gap{room: m.Room.ID, after: int64(has.Offset), through: position, sub: sub})
			}
		}
	}
	states, err := o.recover(ctx, gaps)
	if err != nil {
		return nil, err
	}
	data, err := wire.Marshal(wire.ConnectData{
		User: convert.User(user), Currency: c.Currency, Limits: c.Limits,
		Balance: int64(account.Balance), AccountVersion: account.Version, NextCommitment: account.NextCommitment,
		Rooms: convert.List(memberships, convert.MyRoom), PacketStates: states,
	})
	return &protocol.ConnectResult{Subs: subs, Data: data}, err
}

// subscribe subscribes the connection to the user's rooms. It returns the rooms; LastSeq of each is the position of the
// subscription.
func (o *opener) subscribe(ctx context.Context) (in []chat.Membership, err error) {
	listed, err := o.s.m.c.Chat.Rooms(ctx, o.identity.User.ID)
	if err != nil {
		return nil, err
	}
	in = listed[:0]
	for _, m := range listed {
		member, err := o.subscribeTo(ctx, &m.Room)
		if err != nil {
			return nil, err
		}
		if member {
			in = append(in, m)
		}
	}
	return in, nil
}

// errNotMember means that an entry is queued that this user must not receive, because the user's membership has ended.
var errNotMember = errors.New("membership ended while entering the room")

// subscribeTo subscribes the connection to one room and reports whether the user is still a member. After the list of
// rooms was read, an entry may have ended the membership. The user must receive no later entry.
func (o *opener) subscribeTo(ctx context.Context, room *chat.Room) (member bool, err error) {
	s, user, topic, listed := o.s, o.identity.User.ID, push.RoomTopic(room.ID), room.LastSeq
	room.LastSeq = s.conn.Subscribe(topic, listed, nil)
	if room.LastSeq == listed {
		return true, nil
	}
	s.m.c.Chat.Forget(room.ID, user) // the entry may arrive before the notice that clears the cache
	standing, err := s.m.c.Chat.Standing(ctx, room.ID, user)
	if err != nil || standing.In {
		return standing.In, err
	}
	if s.conn.Subscribe(topic, room.LastSeq, nil) > room.LastSeq {
		return false, errNotMember
	}
	s.conn.Unsubscribe(topic, 0)
	return false, nil
}
