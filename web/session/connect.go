package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/auth"
	"hongbao/web/push"
	"hongbao/web/wire"
)

// pingSeconds is the hub's default interval of pings, as told to clients. A client closes its socket when it receives
// no ping for longer.
const pingSeconds = 25

// errHalfOpen means that the connect reply cannot be made, and that pushes already wait for it. Only closing the socket
// discards them.
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
		s.close(wire.CloseInvalidToken)
		return nil, nil
	case errors.Is(err, errHalfOpen):
		s.m.c.Log.Warn("connect failed", "err", err)
		s.close(wire.CloseServerError)
		return nil, nil
	}
	s.awaitConnect()
	return nil, err
}

func (c *command) setPhase(p phase) {
	c.session.mu.Lock()
	defer c.session.mu.Unlock()
	c.session.phase = p
}

// openInTurn waits for a slot of the connect limiter and then opens the session. It verifies the token before that,
// because that may wait for the host's keys and must not occupy a slot.
func (c *command) openInTurn(ctx context.Context) ([]byte, error) {
	identity, err := c.authenticate(ctx)
	if err != nil {
		return nil, err
	}
	release, err := c.session.m.c.AcquireConnect(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	o := opener{s: c.session, identity: identity, subs: c.cmd.Connect.Subs}
	return o.open(ctx, c.cmd.Id)
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
}

// open makes the session that of its user, puts it into the user's rooms, and returns the reply.
//
// Nothing may be lost between the store and the sockets, so the order matters:
//
//  1. Hold back all pushes.
//  2. Subscribe to the user's topic, so that changes of money and rooms from now on are received.
//  3. Read account and rooms, and subscribe to each room from the position that was read, or a later one.
//  4. Read the entries that the client has missed up to these positions.
//
// The pushes that were held back are sent behind the reply.
func (o *opener) open(ctx context.Context, id uint32) (reply []byte, err error) {
	s, m := o.s, o.s.m
	if err := m.admit(ctx, o.identity); err != nil {
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
	if err := m.admit(ctx, o.identity); err != nil { // the token may have been revoked before the session was subscribed to the signals
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
	m.registry.add(s, user, func() { m.c.Presence.SocketOpened(user, client) })
	s.applySignals() // pushes that this causes are sent after the reply
	if !m.c.Alone {
		m.rechecks.add(user)
	}
	return reply, nil
}
