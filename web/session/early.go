package session

import (
	"slices"
	"time"

	"hongbao/redpacket"
	"hongbao/web/convert"
	"hongbao/web/wire"
)

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
