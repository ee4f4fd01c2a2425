package web

import (
	"context"
	"errors"

	"github.com/centrifugal/protocol"

	"hongbao/web/wire"
)

// request is which of its requests a command stands for.
type request uint8

const (
	requestNone request = iota
	requestConnect
	requestSubscribe
	requestOther // the envelope has it, we do not
	requestSend
	requestRPC
	requestRefresh
)

// requestOf is the first request of a command, in the order of the envelope's schema.
func requestOf(c *protocol.Command) request {
	switch {
	case c.Connect != nil:
		return requestConnect
	case c.Subscribe != nil:
		return requestSubscribe
	case c.Unsubscribe != nil, c.Publish != nil, c.Presence != nil, c.PresenceStats != nil, c.History != nil, c.Ping != nil:
		return requestOther
	case c.Send != nil:
		return requestSend
	case c.Rpc != nil:
		return requestRPC
	case c.Refresh != nil:
		return requestRefresh
	case c.SubRefresh != nil:
		return requestOther
	}
	return requestNone
}

// handle gives the reply of a command; none when there is nothing to say, or the connection is about to be closed.
func (s *session) handle(ctx context.Context, p *pending) (reply []byte, err error) {
	cmd := p.cmd
	who, phase := s.caller()
	kind := requestOf(cmd)
	switch {
	case phase == open && kind == requestSend:
		s.srv.typing(ctx, who, cmd.Send.Data)
		return nil, nil
	case phase == open && kind == requestConnect:
		return nil, wire.NewError(wire.CodeBadRequest)
	case kind == requestConnect:
		return s.connect(ctx, cmd.Id, cmd.Connect)
	case phase != open: // it came behind a connect that failed
		s.close(wire.CloseProtocolError)
		return nil, nil
	case kind == requestRPC:
		who.waiter = p
		data, err := s.srv.answer(ctx, who, cmd.Rpc.Method, cmd.Rpc.Data, p.known)
		if err != nil {
			return nil, err
		}
		return wire.RPCReply(s.encoding(), cmd.Id, data)
	case kind == requestRefresh:
		return s.refresh(ctx, cmd.Id, cmd.Refresh.Token)
	case kind == requestSubscribe:
		return nil, s.subscribe(ctx, who, cmd.Subscribe.Channel)
	}
	return nil, wire.NewError(wire.CodeNotAvailable)
}

// subscribe always fails: a client is in its rooms without asking.
func (s *session) subscribe(ctx context.Context, who Caller, channel string) error {
	room, ok := wire.ChannelRoom(channel)
	if !ok {
		return wire.NewError(wire.CodeNotAvailable)
	}
	standing, err := s.srv.chat.Standing(ctx, room, who.User.ID)
	switch {
	case err != nil:
		return err
	case standing.In:
		return wire.NewError(wire.CodeAlreadySubscribed)
	}
	return wire.NewError(wire.CodeNotAvailable)
}

func (s *session) caller() (Caller, phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Caller{User: s.user, Admin: s.admin}, s.phase
}

// failure is an error as a client hears it.
func (s *Server) failure(err error) wire.Error {
	var ready wire.Error
	if errors.As(err, &ready) {
		return ready
	}
	return wireError(err, s.o.Log, &s.outages)
}

// methodOf names a command in metrics. What clients make up is one name, so that they cannot fill memory.
func methodOf(c *protocol.Command) string {
	switch requestOf(c) {
	case requestConnect:
		return "connect"
	case requestRefresh:
		return "refresh"
	case requestSend:
		return "typing"
	case requestRPC:
		return knownMethod(c.Rpc.Method)
	}
	return "other"
}

func knownMethod(method string) string {
	if _, ok := commands[method]; ok {
		return method
	}
	return "unknown"
}
