package session

import (
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/chat"
	"hongbao/web/wire"
)

// Frame implements hub.Handler. Commands that may block run on other goroutines. When too many are in flight, the rest
// of the frame is returned as work that waits.
func (s *Session) Frame(binary bool, data []byte) (flush bool, rest func()) {
	e := s.encoding()
	if binary != (e == wire.Protobuf) {
		s.close(wire.CloseProtocolError)
		return false, nil
	}
	commands, err := wire.DecodeFrame(e, data)
	if err != nil {
		s.close(wire.CloseProtocolError)
		return false, nil
	}
	if waiting, next := s.admitAll(commands); waiting != nil {
		rest = func() { s.admitWaiting(waiting, next) }
	}
	flush, s.unflushed = s.unflushed, false
	return flush, rest
}

// admitAll admits commands until too many are in flight. It returns the command that must wait, and those after it.
func (s *Session) admitAll(commands []*protocol.Command) (waiting *command, behind []*protocol.Command) {
	for i, cmd := range commands {
		if wire.IsPong(cmd) {
			continue
		}
		waiting, code := s.admit(cmd)
		switch {
		case code != 0:
			s.close(code)
			return nil, nil
		case waiting != nil:
			return waiting, commands[i+1:]
		}
	}
	return nil, nil
}

// admitWaiting waits until the command can be admitted, and then admits those after it in the same way.
func (s *Session) admitWaiting(waiting *command, behind []*protocol.Command) {
	for waiting != nil {
		for room := s.start(waiting); room != nil; room = s.start(waiting) {
			<-room
		}
		waiting, behind = s.admitAll(behind)
	}
	s.flush()
}

// admit answers a command at once or puts it in flight. If too many are in flight, it returns the command. If code is
// not 0, the connection must be closed with it.
func (s *Session) admit(cmd *protocol.Command) (waiting *command, code int) {
	kind := kindOf(cmd)
	if kind == kindSend {
		cmd.Id = 0 // it has no reply
	}
	wait, abuse := s.m.takeToken(&s.tokens)
	switch {
	case !s.inOrder(kind, cmd.Id):
		return nil, wire.CloseProtocolError
	case abuse:
		return nil, wire.CloseTooManyCommands
	}
	c := newCommand(s, kind, cmd)
	if wait == 0 && s.answerAtOnce(c) {
		return nil, 0
	}
	s.flush()                            // the following code may take long
	if wait > 0 && kind != kindRefresh { // some SDKs stop permanently if a refresh fails
		c.refuse(wait)
		return nil, 0
	}
	if s.start(c) != nil {
		return c, 0
	}
	return nil, 0
}

// start puts an admitted command in flight. If too many are in flight, it returns a channel that is closed when one was
// answered.
func (s *Session) start(c *command) (room <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.commands.list) >= maxInFlight {
		if s.commands.space == nil {
			s.commands.space = make(chan struct{})
		}
		return s.commands.space
	}
	if s.phase == silent {
		s.phase = opening
	}
	s.commands.list = append(s.commands.list, c)
	if next := s.commands.next(s.phase); next != nil {
		go s.work(next)
	}
	return nil
}

// inOrder reports whether the protocol allows this command in the session's present phase.
func (s *Session) inOrder(k kind, id uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case k != kindConnect && s.phase == silent:
		return false
	case k == kindSend:
		return true
	case id == 0:
		return false
	}
	return !s.commands.has(id)
}

// refuse answers a command that exceeds the connection's rate limit.
func (c *command) refuse(wait time.Duration) {
	s := c.session
	failure := s.m.c.Errors.Failure(&chat.RateError{After: wait})
	s.m.c.Observe(c.name(), failure.Code, 0)
	if c.cmd.Id == 0 {
		return
	}
	s.conn.Send(wire.ErrorReply(s.encoding(), c.cmd.Id, failure))
}

// answerAtOnce answers a command on the reading goroutine if it can be answered from memory without waiting. Another
// goroutine for the work or for writing would cost more than the answer itself. If it returns false, the command must
// be put in flight.
func (s *Session) answerAtOnce(c *command) bool {
	user, free := s.free()
	if !free || c.kind != kindRPC || !s.m.c.Commands.FromMemory(user, &c.request) {
		return false
	}
	if reply := c.run(); reply != nil && s.conn.Queue(reply) {
		s.unflushed = true
	}
	return true
}

// free returns the session's user. free is true if the session is open and no command is in flight.
func (s *Session) free() (user string, free bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user.ID, s.phase == open && len(s.commands.list) == 0
}

// flush writes the replies that answerAtOnce and refuse have queued.
func (s *Session) flush() {
	if s.unflushed {
		s.unflushed = false
		s.conn.Flush()
	}
}
