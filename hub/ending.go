package hub

import "slices"

// ending is how a subscription ends before its connection does.
type ending struct {
	through int64    // the last message that it is to get
	last    [][]byte // pushes that follow it
}

// over is the end of a subscription that a Message.Last has ended. It stays until the connection is told to go.
var over = &ending{}

// endAt has the subscription end behind a message to come. Of two ends the earlier one counts.
func (t *topic) endAt(s *sub, through int64, last [][]byte) {
	if s.end != nil {
		s.end.through = min(s.end.through, through)
		return
	}
	s.end = &ending{through: through, last: last}
	t.endings++
	t.missing(through)
}

// goOn lets a subscription go on that its connection asks for once more, having seen so much: what would have ended it
// up to there is made up for by then.
func (t *topic) goOn(s *sub, seen int64) {
	s.since = max(s.since, seen)
	if s.end != nil && s.end.through <= seen {
		s.end = nil
		t.endings--
	}
}

// cut ends the subscriptions for which nothing follows the message that is being delivered.
func (t *topic) cut(m Message) {
	for _, s := range slices.Backward(t.subs) { // taking one out moves the last one into its place
		pending := s.end != nil && s.end != over
		final := m.Last != "" && m.Seq > max(s.after, s.since) && s.conn.listensTo(m.Last)
		switch {
		case pending && (final || m.Seq >= s.end.through):
			t.takeOut(s, s.end.last)
		case final:
			s.end = over
		}
	}
}

// takeOut ends a subscription and queues its last pushes.
func (t *topic) takeOut(s *sub, last [][]byte) {
	s.conn.forget(s)
	t.drop(s)
	for _, push := range last {
		s.conn.enqueue(item{frame: newFrame(s.conn.enc, push)})
	}
}

// forget takes a subscription from the connection's list.
func (c *Conn) forget(s *sub) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.subs, s); i >= 0 {
		c.subs = slices.Delete(c.subs, i, i+1)
	}
}

// listensTo tells whether the connection is in the topic.
func (c *Conn) listensTo(topic string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.subs, func(s *sub) bool { return s.topic.name == topic })
}
