package hub

// sub is one connection in one topic.
type sub struct {
	conn  *Conn
	topic *topic
	after int64   // the position: nothing up to it is delivered
	since int64   // Subscribe was called again with this seen: what has ended up to it goes on
	index int     // in topic.subs; -1: not there any more
	end   *ending // nil: none in sight
}

// subscribe is Conn.Subscribe under the topic's lock.
func (t *topic) subscribe(c *Conn, seen int64, announce func(int64) []byte) int64 {
	switch {
	case seen < 0:
	case t.last == unsequenced:
		t.last = seen
		t.checkSoon()
	case seen > t.last:
		t.missing(seen)
	}
	position := max(seen, t.last, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.subTo(t)
	switch {
	case s == nil && c.closing:
		return position
	case s == nil:
		s = &sub{conn: c, topic: t, after: position, index: len(t.subs)}
		t.subs = append(t.subs, s)
		c.subs = append(c.subs, s)
	case s.end == over:
		s.after, s.end = position, nil
	default:
		t.goOn(s, seen)
		return max(s.after, t.last, 0)
	}
	if announce != nil {
		c.enqueueLocked(item{frame: newFrame(c.enc, announce(position))})
	}
	return position
}

// unsubscribe is Conn.Unsubscribe under the topic's lock.
func (t *topic) unsubscribe(c *Conn, through int64, last [][]byte) {
	c.mu.Lock()
	s := c.subTo(t)
	c.mu.Unlock()
	switch {
	case s == nil:
	case s.end == over, t.last == unsequenced, through <= max(s.after, t.last):
		t.takeOut(s, last)
	default:
		t.endAt(s, through, last)
	}
}

// drop takes a subscription out of the topic, if it is still there.
func (t *topic) drop(s *sub) {
	if s.index < 0 {
		return
	}
	end := len(t.subs) - 1
	moved := t.subs[end]
	t.subs[s.index], moved.index = moved, s.index
	t.subs[end] = nil
	t.subs = t.subs[:end]
	s.index = -1
	if s.end != nil && s.end != over {
		t.endings--
	}
}

// subTo finds the connection's subscription; the caller holds c.mu.
func (c *Conn) subTo(t *topic) *sub {
	for _, s := range c.subs {
		if s.topic == t {
			return s
		}
	}
	return nil
}
