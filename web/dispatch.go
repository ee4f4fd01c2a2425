package web

import (
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
)

// A frame of which none is in flight has room for all its commands: who handles it need not wait.
const _ = uint(maxInFlight - wire.CommandsPerFrame)

// pending is a command in flight.
type pending struct {
	session *session
	cmd     *protocol.Command
	known   asked // what it asks; nil: it has not been read
	started bool
	late    bool // it has been answered, and goes on
	limit   timeLimit
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

// Frame implements hub.Handler.
func (s *session) Frame(binary bool, data []byte) (flush bool) {
	s.frame(binary, data)
	flush, s.unsent = s.unsent, false
	return flush
}

// frame admits the commands of a frame. What may wait for anything runs elsewhere, and the replies that are made here count as one,
// for there are so few of them: only before the first one it waits for the client to take what he was sent.
func (s *session) frame(binary bool, data []byte) {
	s.conn.CatchUp()
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
	case wait == 0 && s.atOnce(cmd):
		return 0
	}
	s.flush()                                         // what follows may wait
	if wait > 0 && requestOf(cmd) != requestRefresh { // which is never refused: see refresh
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
	s.pending = append(s.pending, &pending{session: s, cmd: cmd})
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
