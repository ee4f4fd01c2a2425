package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/convert"
	"hongbao/web/user/auth"
	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// pingSeconds is the hub's default interval of pings, as told to clients. A client closes its socket when it receives
// no ping for some seconds longer.
const pingSeconds = 25

// errHalfOpen means that the connect reply cannot be made, and that pushes may already wait for it. Only closing the socket
// discards these pushes.
var errHalfOpen = errors.New("session is half open")

// connect opens the session and returns the connect reply. After an error the client may send connect again. If it
// returns neither a reply nor an error, the connection is about to be closed.
func (c *command) connect(ctx context.Context) ([]byte, error) {
	s := c.session
	c.setPhase(opening)
	s.conn.CloseAt(time.Time{}, 0, "") // stops the timeout for the connect command, which has arrived
	reply, err := c.openInTurn(ctx)
	if err == nil {
		return reply, nil
	}
	c.setPhase(silent)
	switch {
	case errors.Is(err, auth.ErrInvalid):
		c.refuseToken(err)
		return nil, nil
	case errors.Is(err, errHalfOpen):
		s.m.c.Log.Warn("connect failed", "err", err)
		s.close(wire.CloseServerError)
		return nil, nil
	}
	s.awaitConnect()
	return nil, err
}

// refuseToken counts a refused token and closes the socket that has sent it. err wraps auth.ErrInvalid.
func (c *command) refuseToken(err error) {
	s := c.session
	s.m.c.Refused(s.address)
	if errors.Is(err, chat.ErrSuspended) {
		s.close(wire.CloseSuspended)
		return
	}
	s.close(wire.CloseInvalidToken)
}

func (c *command) setPhase(p phase) {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.phase = p
}

// openInTurn waits for a slot of the connect limiter and then opens the session. Before that it verifies the token, because
// that may wait for the host's keys and must not occupy a slot. It also counts the connect (api.Rates.SpendConnect).
func (c *command) openInTurn(ctx context.Context) ([]byte, error) {
	identity, err := c.authenticate(ctx)
	if err != nil {
		return nil, err
	}
	m := c.session.m
	if err := m.c.Rates.SpendConnect(ctx, c.session.callerAs(identity.User.User, identity.Admin)); err != nil {
		return nil, err
	}
	release, err := m.c.AcquireConnect(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	o := opener{s: c.session, identity: identity, subs: c.cmd.Connect.Subs, rooms: askedRooms(c.cmd.Connect.Data)}
	return o.open(ctx, c.cmd.Id)
}

// askedRooms returns how many rooms the client asks for, at most wire.MaxAskedRooms, or 0 for all. Data of any other
// form, which programs may send for purposes of their own, asks for all.
func askedRooms(data []byte) int {
	var ask wire.ConnectAsk
	if len(data) == 0 || json.Unmarshal(data, &ask) != nil {
		return 0
	}
	return min(max(ask.Rooms, 0), wire.MaxAskedRooms)
}

// authenticate returns the identity that the command's token proves. If the command has no token, it returns the
// identity from the upgrade request.
func (c *command) authenticate(ctx context.Context) (auth.Identity, error) {
	s, token := c.session, c.cmd.Connect.Token
	s.mu.Lock()
	upgrade := s.upgrade
	s.mu.Unlock()
	if token != "" || upgrade == nil {
		return s.m.c.Verify(ctx, token)
	}
	if !upgrade.Expires.After(s.m.c.Now()) {
		return auth.Identity{}, auth.ErrExpired
	}
	return *upgrade, nil
}

// opener opens one session for an identity.
type opener struct {
	s        *Session
	identity auth.Identity
	epoch    string
	subs     map[string]*protocol.SubscribeRequest // by channel: up to which seq the client has the entries
	rooms    int                                   // at most so many rooms are listed in the reply; 0: all. All rooms are subscribed to in any case
}

// open gives the session its user, subscribes its connection to the user's rooms, and returns the reply.
//
// Nothing may be lost between the store and the sockets, so the order matters:
//
//  1. Hold back all pushes.
//  2. Subscribe to the user's topic, so that changes of money and rooms from now on are received.
//  3. Read account and rooms, and subscribe to each room from the position that was read, or a later one.
//  4. Read the entries that the client has missed up to these positions.
//
// The pushes that were held back are sent after the reply.
func (o *opener) open(ctx context.Context, id uint32) (reply []byte, err error) {
	s, m := o.s, o.s.m
	if err := m.admit(ctx, &o.identity); err != nil {
		return nil, err
	}
	if o.epoch, err = m.c.Chat.Epoch(ctx); err != nil {
		return nil, err
	}
	client, user := chat.NewID(m.c.Now()), o.identity.User.ID
	s.mu.Lock()
	s.identifyLocked(o.identity)
	s.client, s.epoch, s.upgrade = client, o.epoch, nil
	s.held = true
	s.conn.Hold()
	s.mu.Unlock()

	s.conn.Subscribe(push.UserTopic(user), push.NoSequence, nil)
	if err := m.admit(ctx, &o.identity); err != nil { // the token may have been revoked before the session was subscribed to the signals
		return nil, fmt.Errorf("%w: %w", errHalfOpen, err)
	}
	result, err := o.welcome(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHalfOpen, err)
	}
	result.Client, result.Session, result.Node, result.Version = client, chat.NewID(m.c.Now()), m.c.Node, m.c.Version
	result.Expires, result.Ttl = true, m.ttl(o.identity.Expires)
	result.Ping, result.Pong, result.Time = pingSeconds, true, m.c.Now().UnixMilli()
	if reply, err = wire.ConnectReply(s.encoding(), id, result); err != nil {
		return nil, fmt.Errorf("%w: %w", errHalfOpen, err)
	}

	s.closeAfter(o.identity.Expires)
	m.registry.add(s, user, func() {
		m.c.Presence.SocketOpened(user, client)
		m.c.Opened(user, client)
	})
	s.applySignals() // pushes that this causes are sent after the reply
	if !m.c.Alone {
		m.rechecks.add(user)
	}
	return reply, nil
}

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
	more := ""
	if o.rooms > 0 {
		memberships, more = chat.NewestRooms(memberships, o.rooms)
	}
	data, err := wire.Marshal(wire.ConnectData{
		User: convert.User(user.User), Currency: c.Currency, Limits: c.Limits,
		Balance: int64(account.Balance), AccountVersion: account.Version, NextCommitment: account.NextCommitment,
		ReceiptKey: o.s.m.c.Packets.ReceiptKey(),
		Rooms:      convert.List(memberships, convert.MyRoom), PacketStates: states, RoomsNext: more,
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

// spansOf returns the smallest gaps that together have at most recoverEntries entries, without empty ones. The gaps must be ordered
// by size.
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

// admitTime is how long a refresh waits to learn whether its token was revoked. The client's timeout is 5 s.
const admitTime = 2 * time.Second

// refresh replaces the session's token by a newer one of the same user. An invalid token, or one of another user, closes
// the socket. A temporary failure is not answered, but closes the socket, too: if a refresh fails, some SDKs stop
// permanently and others never retry it. After the close all of them reconnect with the new token.
func (c *command) refresh(ctx context.Context) ([]byte, error) {
	s := c.session
	identity, unstored, err := c.renew(ctx)
	switch {
	case errors.Is(err, auth.ErrInvalid):
		c.refuseToken(err)
		return nil, nil
	case err != nil:
		if s.m.c.Errors.Failure(err).Code.Temporary() {
			s.close(wire.CloseServerError)
			return nil, nil
		}
		return nil, err
	}
	s.mu.Lock()
	s.identifyLocked(identity)
	s.unstored = unstored
	client := s.client
	s.mu.Unlock()
	s.closeAfter(identity.Expires)
	return wire.RefreshReply(s.encoding(), c.cmd.Id, &protocol.RefreshResult{
		Client: client, Version: s.m.c.Version, Expires: true, Ttl: s.m.ttl(identity.Expires),
	}), nil
}

// renew returns the identity that the newer token proves, which must be the connected user's. While the store cannot
// say whether the token was revoked, a valid token is accepted and rechecked later. unstored is then true: the name and the
// avatar of the token may not be stored.
func (c *command) renew(ctx context.Context) (identity auth.Identity, unstored bool, err error) {
	m := c.session.m
	identity, err = m.c.Verify(ctx, c.cmd.Refresh.Token)
	if err != nil {
		return auth.Identity{}, false, err
	}
	before, _ := c.session.caller()
	if identity.User.ID != before.User.ID {
		return auth.Identity{}, false, fmt.Errorf("%w: it is another user's", auth.ErrInvalid)
	}
	admitting, cancel := context.WithTimeout(ctx, admitTime)
	defer cancel()
	err = m.admit(admitting, &identity)
	if code, known := m.c.Errors.Code(err); known && code == wire.CodeUnavailable {
		m.rechecks.add(identity.User.ID)
		if identity.User.KeepName {
			identity.User.Name = before.User.Name
		}
		if identity.User.KeepAvatar {
			identity.User.Avatar = before.User.Avatar
		}
		return identity, true, nil
	}
	return identity, false, err
}
