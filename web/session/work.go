package session

import (
	"runtime/debug"
	"time"

	"hongbao/web/wire"
)

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
