package session

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/hub"
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

// Limits of the missed entries in one connect reply, over all rooms together.
const (
	recoverEntries = 500
	recoverBytes   = 256 << 10
)

// gap is the entries of a room that a client has missed: those with a seq above after, up to through. recover stores
// the result in sub.
type gap struct {
	room           string
	after, through int64
	sub            *protocol.SubscribeResult
}

func (g gap) size() int64 { return g.through - g.after }

// recover puts the missed entries into the reply, for the smallest gaps first, as far as the limits allow. The other
// rooms are marked as not recovered. It returns the states of the packets among the entries.
func (o *opener) recover(ctx context.Context, gaps []gap) ([]wire.State, error) {
	slices.SortFunc(gaps, func(a, b gap) int { return cmp.Compare(a.size(), b.size()) })
	missed := o.s.m.c.Hub.Recent(ctx, spansOf(gaps))
	var packets []string
	left := recoverBytes
	for _, g := range gaps {
		messages := missed[push.RoomTopic(g.room)]
		if int64(len(messages)) != g.size() {
			continue // over the limit, or the entries are incomplete
		}
		publications, size := publicationsOf(messages)
		if size > left {
			continue
		}
		left -= size
		g.sub.Recovered, g.sub.Publications = true, publications
		for _, m := range messages {
			if id := push.PacketIn(m); id != "" {
				packets = append(packets, id)
			}
		}
	}
	states, err := o.s.m.c.Packets.States(ctx, o.identity.User.ID, packets)
	return convert.List(states, convert.State), err
}

// spansOf returns the smallest gaps that together have at most recoverEntries entries.
func spansOf(gaps []gap) (spans []hub.Span) {
	left := int64(recoverEntries)
	for _, g := range gaps {
		if g.size() > left {
			break
		}
		left -= g.size()
		if g.size() > 0 {
			spans = append(spans, hub.Span{Topic: push.RoomTopic(g.room), After: g.after, Through: g.through})
		}
	}
	return spans
}

func publicationsOf(messages []hub.Message) (publications []*protocol.Publication, size int) {
	for _, m := range messages {
		size += len(m.Data)
		publications = append(publications, &protocol.Publication{Data: m.Data, Offset: uint64(m.Seq)})
	}
	return publications, size
}
