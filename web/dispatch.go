package web

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/wire"
)

const (
	// maxInFlight is how many commands of one connection are in flight before its socket is not read any more.
	maxInFlight = 32
	// maxRunning is how many of these run at a time: with them goes what their replies take up.
	maxRunning = 8
	// commandTime bounds how long a command waits until its work begins: its client has long given up. What has
	// begun is not abandoned, for nobody could say what became of it.
	commandTime = 15 * time.Second
)

// pending is a command in flight.
type pending struct {
	cmd     *protocol.Command
	started bool
	late    bool // it has been answered, and goes on
}

// overlaps tells whether the command may run beside those that came before it.
func (p *pending) overlaps() bool {
	switch requestOf(p.cmd) {
	case requestSend:
		return true
	case requestRPC:
		return overlaps(p.cmd.Rpc.Method)
	}
	return false
}

// Frame implements hub.Handler. It only queues: commands run elsewhere, so that the reader's stack stays small.
func (s *session) Frame(binary bool, data []byte) {
	e := s.encoding()
	if binary != (e == wire.Protobuf) {
		s.close(wire.CloseProtocolError)
		return
	}
	commands, err := wire.DecodeFrame(e, data)
	if err != nil {
		s.close(wire.CloseProtocolError)
		return
	}
	for _, cmd := range commands {
		if wire.IsPong(cmd) {
			continue
		}
		if code := s.admit(cmd); code != 0 {
			s.close(code)
			return
		}
	}
}

// admit puts a command in flight, unless there are too many of them, and waits for room before. It gives the code to
// hang up with; 0: all is well.
func (s *session) admit(cmd *protocol.Command) (code int) {
	if requestOf(cmd) == requestSend {
		cmd.Id = 0 // nobody will ask for the reply
	}
	wait, abuse := s.srv.rates.connection(s)
	switch {
	case !s.inOrder(cmd):
		return wire.CloseProtocolError
	case abuse:
		return wire.CloseTooManyCommands
	case wait > 0 && requestOf(cmd) != requestRefresh: // which is never refused: see refresh
		s.refuse(cmd, wait)
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pending) >= maxInFlight {
		space := make(chan struct{})
		s.space = space
		s.mu.Unlock()
		<-space
		s.mu.Lock()
	}
	if s.phase == silent {
		s.phase = opening
	}
	s.pending = append(s.pending, &pending{cmd: cmd})
	if p := s.nextLocked(); p != nil {
		go s.work(p)
	}
	return 0
}

// inOrder tells whether the protocol lets this command come now.
func (s *session) inOrder(cmd *protocol.Command) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch request := requestOf(cmd); {
	case request != requestConnect && s.phase == silent:
		return false
	case request == requestSend:
		return true
	case cmd.Id == 0:
		return false
	}
	return !slices.ContainsFunc(s.pending, func(p *pending) bool { return p.cmd.Id == cmd.Id })
}

// refuse answers a command that is one too many.
func (s *session) refuse(cmd *protocol.Command, wait time.Duration) {
	failure := s.srv.failure(&chat.RateError{After: wait})
	s.srv.metrics.command(methodOf(cmd), failure.Code, 0)
	if cmd.Id == 0 {
		return
	}
	s.conn.CatchUp()
	s.conn.Send(wire.ErrorReply(s.encoding(), cmd.Id, failure))
}

// nextLocked starts the next command that may start: one that overlaps when those before it have started, any other
// when, besides, nothing else is running that does not overlap. Those that have started are always the first ones.
// Before the connect reply nothing overlaps.
func (s *session) nextLocked() *pending {
	alone := true // nothing runs that others have to wait for
	for i, p := range s.pending {
		overlaps := s.phase == open && p.overlaps()
		switch {
		case p.started:
			alone = alone && overlaps
		case i == maxRunning, !overlaps && !alone:
			return nil
		default:
			p.started = true
			return p
		}
	}
	return nil
}

// work runs a command and then, one after another, those that its answer lets start.
func (s *session) work(p *pending) {
	for p != nil {
		p = s.finish(p, s.run(p))
	}
}

// finish answers the command and gives the next one to run; others that may start with it get a goroutine. What was
// answered before has nothing behind it that waits.
func (s *session) finish(done *pending, reply []byte) (next *pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if done.late {
		s.late--
		return nil
	}
	s.answerLocked(done, reply)
	next = s.nextLocked()
	s.startLocked()
	return next
}

// answerLocked sends the reply, if any, and takes the command out of flight. Both at once: who has the reply may use
// its id again, and whoever finds nothing in flight may rely on all replies being queued.
func (s *session) answerLocked(done *pending, reply []byte) {
	switch {
	case reply == nil:
	case s.held && done.cmd.Connect != nil:
		s.held = false
		s.conn.Release(reply)
	default:
		s.conn.Send(reply)
	}
	s.pending = slices.DeleteFunc(s.pending, func(p *pending) bool { return p == done })
	if len(s.pending) == 0 {
		s.pending = nil // an idle session keeps nothing
	}
	if s.space != nil {
		close(s.space)
		s.space = nil
	}
}

// startLocked gives a goroutine to each command that may start.
func (s *session) startLocked() {
	for p := s.nextLocked(); p != nil; p = s.nextLocked() {
		go s.work(p)
	}
}

// run makes the reply of one command; nil: none. A bug that panics costs its connection, not the process.
func (s *session) run(p *pending) (reply []byte) {
	defer func() {
		if bug := recover(); bug != nil {
			s.srv.o.Log.Error("panic in a command", "panic", bug, "stack", string(debug.Stack()))
			s.close(wire.CloseServerError)
		}
	}()
	s.conn.CatchUp()
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	began := time.Now()
	reply, err := s.handle(ctx, p)
	code := wire.Code(0)
	if err != nil {
		failure := s.srv.failure(err)
		code = failure.Code
		reply = wire.ErrorReply(s.encoding(), p.cmd.Id, failure)
	}
	s.srv.metrics.command(methodOf(p.cmd), code, time.Since(began))
	return reply
}
