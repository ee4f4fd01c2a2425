package web

import (
	"context"
	"errors"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/wire"
)

// welcome reads what the reply tells, and subscribes the connection to the user's rooms.
func (s *session) welcome(ctx context.Context, user chat.User, epoch string, asked map[string]*protocol.SubscribeRequest) (*protocol.ConnectResult, error) {
	account, err := s.srv.packets.Account(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	memberships, err := s.listen(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	subs := make(map[string]*protocol.SubscribeResult, len(memberships))
	var gaps []gap
	for _, m := range memberships {
		channel, position := wire.RoomChannel(m.Room.ID), m.Room.LastSeq
		sub := &protocol.SubscribeResult{Recoverable: true, Positioned: true, Epoch: epoch, Offset: uint64(position)}
		subs[channel] = sub
		if ask := asked[channel]; ask.GetRecover() {
			sub.WasRecovering = true
			if ask.Epoch == epoch && ask.Offset <= sub.Offset {
				gaps = append(gaps, gap{room: m.Room.ID, after: int64(ask.Offset), through: position, sub: sub})
			}
		}
	}
	states, err := s.srv.recover(ctx, user.ID, gaps)
	if err != nil {
		return nil, err
	}
	data, err := wire.Marshal(wire.ConnectData{
		User: wireUser(user), Currency: s.srv.o.Currency, Limits: s.srv.limits(),
		Balance: int64(account.Balance), NextCommitment: account.NextCommitment,
		Rooms: mapped(memberships, wireMyRoom), PacketStates: states,
	})
	return &protocol.ConnectResult{Subs: subs, Data: data}, err
}

// listen subscribes the connection to the user's rooms, and lists them, each as far as the connection has come in it.
func (s *session) listen(ctx context.Context, user string) (in []chat.Membership, err error) {
	listed, err := s.srv.chat.Rooms(ctx, user)
	if err != nil {
		return nil, err
	}
	in = listed[:0]
	for _, m := range listed {
		still, err := s.listenTo(ctx, user, &m.Room)
		if err != nil {
			return nil, err
		}
		if still {
			in = append(in, m)
		}
	}
	return in, nil
}

// errToldTooMuch means that something is waiting to be sent that is not for this user.
var errToldTooMuch = errors.New("put out of a room while entering it")

// listenTo subscribes the connection to one room of the list, and tells whether the user is still in it: what has come
// since the list was read may be the entry that puts him out, and nothing behind that one is for him.
func (s *session) listenTo(ctx context.Context, user string, room *chat.Room) (still bool, err error) {
	topic, listed := roomTopic(room.ID), room.LastSeq
	room.LastSeq = s.conn.Subscribe(topic, listed, nil)
	if room.LastSeq == listed {
		return true, nil
	}
	s.srv.chat.Forget(room.ID, user) // the entry may have been quicker than the word of it
	standing, err := s.srv.chat.Standing(ctx, room.ID, user)
	if err != nil || standing.In {
		return standing.In, err
	}
	if s.conn.Subscribe(topic, room.LastSeq, nil) > room.LastSeq {
		return false, errToldTooMuch
	}
	s.conn.Unsubscribe(topic, 0)
	return false, nil
}
