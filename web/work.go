package web

import (
	"runtime/debug"
	"slices"
	"time"

	"hongbao/web/wire"
)

const (
	// commandTime bounds how long a command waits until its work begins: its client has long given up. What has
	// begun is not abandoned, for nobody could say what became of it.
	commandTime = 15 * time.Second
	// commandRoom is what the deepest command takes of its stack, a grab that wins. With what the runtime keeps free that is more
	// than 8 KiB, so the stack gets 16.
	commandRoom = 7400
)

// work runs a command and then, one after another, those that its answer lets start.
func (s *session) work(p *pending) {
	growStack(false)
	for p != nil {
		s.conn.CatchUp()
		p = s.finish(p, s.run(p))
	}
}

// growStack makes the stack big enough while there is nothing on it. Else it is doubled three times deep in the work, each time
// copying what is on it, which is a tenth of a won grab's time. What counts is the size of this frame: called with false, it
// does not touch the room.
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

// finish answers the command and gives the next one to run; others that may start with it get a goroutine. What was
// answered before has nothing behind it that waits.
func (s *session) finish(done *pending, reply []byte) (next *pending) {
	s.mu.Lock()
	if done.late {
		s.late--
		s.mu.Unlock()
		return nil
	}
	flush := s.answerLocked(done, reply)
	next = s.nextLocked()
	s.startLocked()
	s.mu.Unlock()
	switch {
	case flush && next == nil:
		s.conn.Flush()
	case flush: // beside the next one: their replies may leave together
		go s.conn.Flush()
	}
	return next
}

// answerLocked sends the reply, if any, and takes the command out of flight. Both at once: who has the reply may use
// its id again, and whoever finds nothing in flight may rely on all replies being queued. True: the caller is to flush them.
func (s *session) answerLocked(done *pending, reply []byte) (flush bool) {
	switch {
	case reply == nil:
	case s.held && done.cmd.Connect != nil:
		s.held = false
		s.conn.Release(reply)
	default:
		flush = s.conn.Queue(reply)
	}
	s.pending = slices.DeleteFunc(s.pending, func(p *pending) bool { return p == done })
	if len(s.pending) == 0 {
		s.pending = nil // an idle session keeps nothing
	}
	if s.space != nil {
		close(s.space)
		s.space = nil
	}
	return flush
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
	began := time.Now()
	p.limit.end = began.Add(commandTime)
	defer p.limit.cancel()
	reply, err := s.handle(&p.limit, p)
	code := wire.Code(0)
	if err != nil {
		failure := s.srv.failure(err)
		code = failure.Code
		reply = wire.ErrorReply(s.encoding(), p.cmd.Id, failure)
	}
	s.srv.metrics.command(methodOf(p.cmd), code, time.Since(began))
	return reply
}
