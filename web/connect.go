package web

import (
	"context"
	"errors"
	"fmt"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/wire"
)

// pingSeconds is told to clients, which hang up when no ping has come for longer. It is the hub's default.
const pingSeconds = 25

// connect opens the session. An error is its answer, and the client may try again; with neither reply nor
// error the connection is about to be closed.
func (s *session) connect(ctx context.Context, id uint32, r *protocol.ConnectRequest) ([]byte, error) {
	s.mu.Lock()
	s.phase = opening
	s.mu.Unlock()
	s.takeTime()
	reply, err := s.openInTurn(ctx, id, r)
	if err == nil {
		return reply, nil
	}
	s.mu.Lock()
	s.phase = silent
	s.mu.Unlock()
	switch {
	case errors.Is(err, errTokenInvalid):
		s.close(wire.CloseInvalidToken)
		return nil, nil
	case errors.Is(err, errHalfOpen):
		s.srv.o.Log.Warn("connect failed", "err", err)
		s.close(wire.CloseServerError)
		return nil, nil
	}
	s.awaitConnect()
	return nil, err
}

// openInTurn opens the session when there is a place for one more. Who connects is found out before: the keys of the host
// may have to be waited for, and who waits for them keeps nobody else out.
func (s *session) openInTurn(ctx context.Context, id uint32, r *protocol.ConnectRequest) ([]byte, error) {
	who, err := s.authenticate(ctx, r.Token)
	if err != nil {
		return nil, err
	}
	leave, err := s.srv.lobby.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.open(ctx, id, who, r.Subs)
}

// errHalfOpen means that pushes are waiting behind a reply that cannot be made: only closing throws them away.
var errHalfOpen = errors.New("session is half open")

// open makes the session that of who connects, puts it into its user's rooms, and makes the reply.
//
// Nothing may be lost between the store and the sockets, so the order matters: hold back whatever is pushed;
// listen to the user, so that money and rooms that change from now on are heard of; then read; then listen
// to the rooms, each from the position that was read or later; then read what the client has missed up to
// these positions. What was held back goes out behind the reply.
func (s *session) open(ctx context.Context, id uint32, who identity, asked map[string]*protocol.SubscribeRequest) ([]byte, error) {
	if err := s.srv.admit(ctx, who); err != nil {
		return nil, err
	}
	epoch, err := s.srv.chat.Epoch(ctx)
	if err != nil {
		return nil, err
	}
	client := chat.NewID(s.srv.o.Now())
	s.mu.Lock()
	s.beLocked(who)
	s.client, s.epoch, s.bearer = client, epoch, nil
	s.mu.Unlock()

	s.hold()
	s.conn.Subscribe(userTopic(who.user.ID), noSequence, nil)
	if err := s.srv.admit(ctx, who); err != nil { // revoked since, and the word of it has passed by
		return nil, fmt.Errorf("%w: %w", errHalfOpen, err)
	}
	result, err := s.welcome(ctx, who.user, epoch, asked)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHalfOpen, err)
	}
	result.Client, result.Session, result.Node, result.Version = client, chat.NewID(s.srv.o.Now()), s.srv.pub.node, s.srv.o.Version
	result.Expires, result.Ttl = true, s.srv.ttl(who.expires)
	result.Ping, result.Pong, result.Time = pingSeconds, true, s.srv.o.Now().UnixMilli()
	reply, err := wire.ConnectReply(s.encoding(), id, result)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHalfOpen, err)
	}

	s.expire(who.expires)
	s.srv.sockets.add(s, who.user.ID, func() { s.srv.attendance.note(movement{user: who.user.ID, socket: client}) })
	s.obeyWaiting() // what this pushes goes out behind the reply
	if !s.srv.o.Alone {
		s.srv.rechecks.add(who.user.ID)
	}
	return reply, nil
}

// hold keeps pushes back until the reply is sent.
func (s *session) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
	s.conn.Hold()
}

// authenticate finds out who connects: the token counts, else what came with the upgrade.
func (s *session) authenticate(ctx context.Context, token string) (identity, error) {
	s.mu.Lock()
	atUpgrade := s.bearer
	s.mu.Unlock()
	if token != "" || atUpgrade == nil {
		return s.srv.verify(ctx, token)
	}
	if !atUpgrade.expires.After(s.srv.o.Now()) {
		return identity{}, errTokenExpired
	}
	return *atUpgrade, nil
}

// admit notes whom a token names, unless it was revoked.
func (s *Server) admit(ctx context.Context, who identity) error {
	err := s.chat.Admit(ctx, who.user, who.issued)
	if errors.Is(err, chat.ErrRevoked) {
		return fmt.Errorf("%w: %w", errTokenInvalid, err)
	}
	return err
}
