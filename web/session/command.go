package session

import (
	"context"
	"runtime/debug"
	"sync"
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

const (
	// commandTime limits how long a command may wait before its work begins: after that its client has given up. Work
	// that has begun is always finished, because otherwise its outcome would be unknown.
	commandTime = 15 * time.Second
	// commandRoom is the stack that the command with the deepest calls needs, a winning grab, in bytes. Together with
	// the runtime's reserve it exceeds 8 KiB, so the stack becomes 16 KiB.
	commandRoom = 7400
)

// work runs a command, and then the commands that may start after its answer, one after the other.
func (s *Session) work(c *command) {
	growStack(false)
	for c != nil {
		for behind := s.conn.Behind(); behind != nil; behind = s.conn.Behind() {
			<-behind
		}
		c = s.finish(c, c.run())
	}
}

// growStack grows the stack of the goroutine while it is empty. Otherwise it would be doubled three times deep in the work and
// copied each time, which takes a tenth of the time of a won grab. Only the size of this frame counts: with touch false the room
// is not written to.
//
//go:noinline
func growStack(touch bool) {
	if touch {
		var room [commandRoom]byte
		fill(&room)
	}
}

// fill keeps the room in growStack's frame.
//
//go:noinline
func fill(room *[commandRoom]byte) { room[0]++ }

// finish answers a command that has run, and returns the next command to run on this goroutine. Other commands that may
// start get goroutines of their own. If the command was answered early, it starts none, because they were started then.
func (s *Session) finish(c *command, reply []byte) (next *command) {
	s.mu.Lock()
	if c.answered {
		s.commands.early--
		s.mu.Unlock()
		return nil
	}
	flush := s.answerLocked(c, reply)
	next = s.commands.next(s.phase)
	s.startLocked()
	s.mu.Unlock()
	switch {
	case flush && next == nil:
		s.conn.Flush()
	case flush: // concurrently with the next command, so that both replies may be written together
		go s.conn.Flush()
	}
	return next
}

// answerLocked queues the reply, if any, and removes the command from those in flight. Both happen under one lock,
// because a client that has the reply may use its id again. It returns true if the caller must flush.
func (s *Session) answerLocked(c *command, reply []byte) (flush bool) {
	switch {
	case reply == nil:
	case s.held && c.kind == kindConnect:
		s.held = false
		s.conn.Release(reply)
	default:
		flush = s.conn.Queue(reply)
	}
	s.commands.remove(c)
	return flush
}

// startLocked starts a goroutine for each command that may start now.
func (s *Session) startLocked() {
	for c := s.commands.next(s.phase); c != nil; c = s.commands.next(s.phase) {
		go s.work(c)
	}
}

// run runs the command and returns its reply, or nil if it has none. A panic closes the connection and does not end the
// process.
func (c *command) run() (reply []byte) {
	s := c.session
	defer func() {
		if p := recover(); p != nil {
			s.m.c.Log.Error("panic in a command", "panic", p, "stack", string(debug.Stack()))
			s.close(wire.CloseServerError)
		}
	}()
	began := time.Now()
	c.limit.end = began.Add(commandTime)
	defer c.limit.cancel()
	reply, err := c.handle(&c.limit)
	code := wire.Code(0)
	if err != nil {
		failure := s.m.c.Errors.Failure(err)
		code = failure.Code
		reply = wire.ErrorReply(s.encoding(), c.cmd.Id, failure)
	}
	s.m.c.Observe(c.name(), code, time.Since(began))
	return reply
}

// timeLimit is a context with a deadline. Its timer is created by the first call of Done. Most commands never call
// Done, and a timer would cost as much as an answer from memory.
type timeLimit struct {
	end time.Time

	mu   sync.Mutex
	made context.Context // guarded by mu; context with a timer; nil: Done was not called
	stop func()          // guarded by mu; cancels made
	done bool            // guarded by mu; cancel was called
}

// Deadline implements context.Context.
func (l *timeLimit) Deadline() (time.Time, bool) { return l.end, true }

// Done implements context.Context.
func (l *timeLimit) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.made != nil:
	case l.done:
		l.made, l.stop = context.WithCancel(context.Background())
		l.stop()
	default:
		l.made, l.stop = context.WithDeadline(context.Background(), l.end)
	}
	return l.made.Done()
}

// Err implements context.Context.
func (l *timeLimit) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.made != nil:
		return l.made.Err()
	case l.done:
		return context.Canceled
	case !time.Now().Before(l.end):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements context.Context. It passes keys on to the context that Done has created. Package context thus
// recognises that one as cancellable, so that derived contexts need no goroutine.
func (l *timeLimit) Value(key any) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		return nil
	}
	return l.made.Value(key)
}

// cancel ends the context and stops its timer.
func (l *timeLimit) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	if l.stop != nil {
		l.stop()
	}
}
