package session

import (
	"slices"
	"time"

	"hongbao/redpacket"
	"hongbao/web/api"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

// maxRefused is how many commands of a connection may be refused, without its bucket becoming full in between, before
// it is closed.
const maxRefused = 200

// bucket limits the commands of one connection to api.CommandsPerSecond, by the generic cell rate algorithm.
type bucket struct {
	full    time.Duration // when the bucket will be full again, as time since Manager.start
	refused int           // number of refused commands since the bucket was last full
}

// take counts one command. If wait is above zero, the command is refused and the next one may come after wait. abuse
// means that more than maxRefused commands were refused.
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

// takeToken counts one command of a connection. It allows everything if Config.Paced is false.
func (m *Manager) takeToken(b *bucket) (wait time.Duration, abuse bool) {
	if !m.c.Paced {
		return 0, false
	}
	return b.take(m.c.Now().Sub(m.start))
}

const (
	// maxInFlight limits the commands of one connection that are not answered. At the limit, the socket is not read.
	maxInFlight = 32
	// maxRunning limits how many of these commands run concurrently, and so the memory for their replies.
	maxRunning = 8
)

// inFlight holds the commands of one session that are not answered. Session.mu guards it.
type inFlight struct {
	list  []*command    // in the order of arrival, so started ones come first; nil: none
	space chan struct{} // closed when a command is answered; nil: no frame waits for that
	early uint8         // number of commands that were answered early and still run
}

// has reports whether a command with this id is in flight.
func (f *inFlight) has(id uint32) bool {
	return slices.ContainsFunc(f.list, func(c *command) bool { return c.cmd.Id == id })
}

// next marks the next command that may start as started and returns it, or nil if none may start. A command that
// overlaps may start once all earlier ones have started. Any other command also waits until all running commands are
// ones that overlap. Before the connect reply, no command overlaps.
func (f *inFlight) next(phase phase) *command {
	alone := true // no running command excludes others
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

// remove removes an answered command, and wakes the reader if it waits for space.
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

const (
	// maxEarly limits the commands of one connection that were answered early and still run.
	maxEarly = 32
	// firstPendingPoll is when a grab that has no share yet after Config.PendingAfter is looked at again. The pause doubles each time, up to
	// lastPendingPoll: while Redis is stuck very many grabs wait.
	firstPendingPoll = 50 * time.Millisecond
	lastPendingPoll  = 2 * time.Second
)

// answerPending answers a grab with "pending" if its share is granted and only the commit is awaited. If the grab has
// no share yet, it checks again later, until the grab is answered.
func (c *command) answerPending() {
	flush, again := c.session.answerPending(c)
	if flush {
		c.session.conn.Flush()
	}
	if again {
		c.pendingPoll = min(max(firstPendingPoll, 2*c.pendingPoll), lastPendingPoll)
		time.AfterFunc(c.pendingPoll, c.answerPending)
	}
}

// answerPending answers a grab that still runs, and removes it from the commands in flight: its id is free and later
// commands may start. If maxEarly commands of the connection were answered early, it does nothing; the grab is answered
// when it ends. again means that the grab has no share yet.
func (s *Session) answerPending(c *command) (flush, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.commands.early == maxEarly || !slices.Contains(s.commands.list, c) {
		return false, false
	}
	taken := c.pending.Take(func(r redpacket.Result) {
		s.commands.early++
		c.answered = true
		flush = s.answerLocked(c, c.pendingReply(r))
		s.startLocked()
	})
	return flush, !taken
}

func (c *command) pendingReply(r redpacket.Result) []byte {
	reply, err := wire.RPCReply(c.session.encoding(), c.cmd.Id, convert.GrabReply(r))
	if err != nil {
		panic("session: " + err.Error()) // our own types can always be encoded
	}
	return reply
}
