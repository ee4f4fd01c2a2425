package session

import (
	"context"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/redpacket"
	"hongbao/web/api"
	"hongbao/web/wire"
)

// kind says which request of the Centrifugo protocol a command carries.
type kind uint8

const (
	kindNone kind = iota
	kindConnect
	kindSubscribe
	kindOther // a request that the protocol has and this server does not support
	kindSend
	kindRPC
	kindRefresh
)

// kindOf returns the kind of a command. If the command has several requests, the first in the order of the schema
// counts.
func kindOf(c *protocol.Command) kind {
	switch {
	case c.Connect != nil:
		return kindConnect
	case c.Subscribe != nil:
		return kindSubscribe
	case c.Unsubscribe != nil, c.Publish != nil, c.Presence != nil, c.PresenceStats != nil, c.History != nil, c.Ping != nil:
		return kindOther
	case c.Send != nil:
		return kindSend
	case c.Rpc != nil:
		return kindRPC
	case c.Refresh != nil:
		return kindRefresh
	case c.SubRefresh != nil:
		return kindOther
	}
	return kindNone
}

// command is one command of a client, from its arrival to its reply.
type command struct {
	// static after newCommand
	session *Session
	cmd     *protocol.Command
	kind    kind

	request     api.Request           // of an RPC; owned by the goroutine that runs the command
	pending     redpacket.PendingGrab // of a grab
	pendingPoll time.Duration         // until it is looked at again
	limit       timeLimit
	started     bool // guarded by Session.mu
	answered    bool // guarded by Session.mu: early, while the work goes on
}

func newCommand(s *Session, k kind, cmd *protocol.Command) *command {
	c := &command{session: s, cmd: cmd, kind: k}
	if k == kindRPC {
		c.request = api.NewRequest(cmd.Rpc.Method, cmd.Rpc.Data)
	}
	return c
}

// overlaps reports whether the command may run concurrently with earlier ones.
func (c *command) overlaps() bool {
	return c.kind == kindSend || c.kind == kindRPC && c.request.Overlaps()
}

// name returns the command's name for the metrics.
func (c *command) name() string {
	switch c.kind {
	case kindConnect:
		return "connect"
	case kindRefresh:
		return "refresh"
	case kindSend:
		return "typing"
	case kindRPC:
		return c.request.Name()
	}
	return "other"
}

// handle runs the command and returns its reply. The reply is nil if there is none or the connection is about to be
// closed.
func (c *command) handle(ctx context.Context) (reply []byte, err error) {
	s := c.session
	caller, phase := s.caller()
	switch {
	case phase == open && c.kind == kindSend:
		s.m.c.Commands.Typing(ctx, caller, c.cmd.Send.Data)
		return nil, nil
	case phase == open && c.kind == kindConnect:
		return nil, wire.NewError(wire.CodeBadRequest)
	case c.kind == kindConnect:
		return c.connect(ctx)
	case phase != open: // the preceding connect command has failed
		s.close(wire.CloseProtocolError)
		return nil, nil
	case c.kind == kindRPC:
		if c.request.MayPend() {
			caller.Pending = &c.pending
			defer time.AfterFunc(s.m.c.PendingAfter, c.answerPending).Stop()
		}
		data, err := s.m.c.Commands.Answer(ctx, caller, &c.request)
		if err != nil {
			return nil, err
		}
		return wire.RPCReply(s.encoding(), c.cmd.Id, data)
	case c.kind == kindRefresh:
		return c.refresh(ctx)
	case c.kind == kindSubscribe:
		return nil, c.subscribe(ctx, caller.User.ID)
	}
	return nil, wire.NewError(wire.CodeNotAvailable)
}

// subscribe always fails: the server subscribes a client to the rooms of its user.
func (c *command) subscribe(ctx context.Context, user string) error {
	room, ok := wire.ChannelRoom(c.cmd.Subscribe.Channel)
	if !ok {
		return wire.NewError(wire.CodeNotAvailable)
	}
	standing, err := c.session.m.c.Chat.Standing(ctx, room, user)
	switch {
	case err != nil:
		return err
	case standing.In:
		return wire.NewError(wire.CodeAlreadySubscribed)
	}
	return wire.NewError(wire.CodeNotAvailable)
}
