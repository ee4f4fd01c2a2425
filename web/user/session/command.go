package session

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/redpacket/trace"
	"hongbao/web/user/api"
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

// command is one command of a client, from its arrival to its answer.
type command struct {
	// static after newCommand
	session *Session
	cmd     *protocol.Command
	kind    kind

	request api.Request // of an RPC; owned by the goroutine that runs the command
	barred  error       // why the command must not run; nil: it may
	end     func()      // gives back what Commands.Begin has reserved; nil: it has reserved nothing
	started bool        // guarded by Session.mu
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

// name returns the command's name for metrics, logs and traces.
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

// handle runs the command and returns its reply, or an error that run turns into a reply. Both are nil if the command has no reply,
// or if the connection is about to be closed.
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

// commandTime limits a command's wait in Commands.Begin, and then its run. A client that has waited this long has given
// up. The limit does not interrupt a commit that has begun, because the outcome would be unknown. commandTime also limits each
// recheck of a user, and each question to the store about revocations.
const commandTime = 15 * time.Second

// work runs a command, then the next command that finish returns, and so on.
func (c *command) work() {
	for c != nil {
		c.begin()
		next := c.finish(c.run())
		if c.end != nil {
			c.end()
		}
		c = next
	}
}

// begin waits until few enough earlier replies are unread (hub.Conn.Behind) and the command may run. Commands.Begin may
// wait for other commands that scan, so begin looks at the replies again after it. Otherwise all commands of a connection
// could wait in Commands.Begin and then each add a reply that the client does not take.
func (c *command) begin() {
	s := c.session
	for {
		for behind := s.conn.Behind(); behind != nil; behind = s.conn.Behind() {
			<-behind
		}
		if c.kind != kindRPC || !c.request.Scans() {
			return
		}
		caller, phase := s.caller()
		if phase != open {
			return // handle closes the connection
		}
		ctx, cancel := context.WithTimeout(context.Background(), commandTime)
		c.end, c.barred = s.m.c.Commands.Begin(ctx, caller, &c.request)
		cancel()
		if c.end == nil || s.conn.Behind() == nil {
			return
		}
		c.end()
	}
}

// finish answers a command that has run, and returns the next command to run on this goroutine. Other commands that may
// start get goroutines of their own.
func (c *command) finish(reply []byte) (next *command) {
	s := c.session
	s.mu.Lock()
	flush := c.answerLocked(reply)
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
// because a client that has the reply may use the command's id again. It returns true if the caller must flush.
func (c *command) answerLocked(reply []byte) (flush bool) {
	s := c.session
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
		go c.work()
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
	ctx, cancel := context.WithDeadline(context.Background(), began.Add(commandTime))
	defer cancel()
	ctx, span := trace.Command(ctx, c.name(), "")
	err := c.barred
	if err == nil {
		reply, err = c.handle(ctx)
	}
	code := wire.Code(0)
	var failed error
	if err != nil {
		failure := s.m.c.Errors.Failure(err)
		if failure.Temporary {
			failed = err
		}
		code = failure.Code
		reply = wire.ErrorReply(s.encoding(), c.cmd.Id, failure)
	}
	took := time.Since(began)
	s.m.c.Observe(c.name(), code, took)
	if !span.IsZero() {
		span.Text("hongbao.request", c.requestName())
		span.Number("hongbao.code", int(code))
		span.End(failed)
	}
	if log := s.m.c.Log; log.Enabled(context.Background(), slog.LevelDebug) {
		log.Debug("command", "method", c.name(), "code", code, "took", took, "user", s.userID(), "request", c.requestName())
	}
	return reply
}

// requestName returns the name of the request in logs and traces: the client's id and the id of the command.
func (c *command) requestName() string {
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%s/%d", s.client, c.cmd.Id)
}

// maxRefused is the number of refused commands, pongs and control frames at which a connection is closed. The count starts
// again when the connection's bucket is full.
const maxRefused = 200

// bucket limits the commands, pongs and control frames of one connection to api.CommandsPerSecond, with bursts of
// api.CommandBurst. It uses the generic cell rate algorithm.
type bucket struct {
	full    time.Duration // when the bucket will be full again, as time since Manager.start
	refused int           // commands, pongs and control frames over the limit since the bucket was last full
}

// take counts one command, pong or control frame. If wait is above zero, it is over the limit and the next one may come after
// wait. abuse means that at least maxRefused of them were over the limit since the bucket was last full.
func (b *bucket) take(now time.Duration) (wait time.Duration, abuse bool) {
	every := time.Second / api.CommandsPerSecond
	if b.full <= now {
		b.full, b.refused = now, 0
	}
	if wait := b.full + every - api.CommandBurst*every - now; wait > 0 {
		b.refused++
		return wait, b.refused >= maxRefused
	}
	b.full += every
	return 0, false
}

// takeToken counts one command, pong or control frame of the connection. One that comes before the connect reply, or is over the
// limit, counts against the budget of the client's address, too, because a new connection has a new bucket. abuse means that the
// connection must be closed: too many were over the limit, or the budget of the address is used up. takeToken allows everything
// if Config.Paced is false.
func (s *Session) takeToken() (wait time.Duration, abuse bool) {
	m := s.m
	if !m.c.Paced {
		return 0, false
	}
	wait, abuse = s.tokens.take(m.c.Now().Sub(m.start))
	if wait == 0 && s.seenOpen() {
		return 0, false
	}
	return wait, abuse || m.c.Rates.SpendFrame(context.Background(), s.address) != nil
}

// seenOpen reports whether the session is open. Once it has returned true it takes no lock, because an open session stays open.
func (s *Session) seenOpen() bool {
	if !s.known {
		s.mu.Lock()
		s.known = s.phase == open
		s.mu.Unlock()
	}
	return s.known
}

const (
	// maxInFlight limits the commands of one connection that are not answered. A further command waits until one of
	// them is answered, and meanwhile the socket is not read.
	maxInFlight = 32
	// maxRunning limits how many of these commands run concurrently, and so the memory for their replies.
	maxRunning = 8
)

// inFlight holds the commands of one session that are not answered. Session.mu guards it.
type inFlight struct {
	list  []*command    // in the order of arrival, so started ones come first; nil: none
	space chan struct{} // closed as soon as any command of the list is answered; nil: no command waits to be added
}

// has reports whether a command with this id is in flight.
func (f *inFlight) has(id uint32) bool {
	return slices.ContainsFunc(f.list, func(c *command) bool { return c.cmd.Id == id })
}

// next marks the next command that may start as started and returns it, or nil if none may start. Commands start in the order of
// arrival, and at most maxRunning of the list run at a time. A command that overlaps (see overlaps) need not wait for running
// ones to end. Any other command waits until all running ones are commands that overlap. Before the connect reply, no command
// counts as overlapping.
func (f *inFlight) next(phase phase) *command {
	alone := true // every running command overlaps
	for i, c := range f.list {
		overlaps := phase == open && c.overlaps()
		switch {
		case c.started:
			alone = alone && overlaps
		case i == maxRunning, !overlaps && !alone:
			return nil
		default:
			c.started = true
			return c
		}
	}
	return nil
}

// remove removes an answered command, and wakes the goroutine that waits to add a command, if there is one.
func (f *inFlight) remove(answered *command) {
	f.list = slices.DeleteFunc(f.list, func(c *command) bool { return c == answered })
	if len(f.list) == 0 {
		f.list = nil // so that an idle session uses no memory for it
	}
	if f.space != nil {
		close(f.space)
		f.space = nil
	}
}
