package hub

import (
	"sync"
	"sync/atomic"
)

// unsequenced is a topic's last seq as long as no subscriber or message brought one.
const unsequenced = -1

// topic is what local connections listen to. It exists as long as it has listeners.
type topic struct {
	// static
	hub  *Hub
	name string

	dead atomic.Bool // set under mu with the last listener's leaving, for ever

	mu        sync.Mutex // guards the following
	subs      []*sub
	last      int64         // the last seq delivered, or the first subscriber's seen
	gap       *gap          // nil: nothing is missing
	endings   int           // subscriptions that end behind a message to come
	recent    *recent       // what is kept for those who come back; nil: nobody has come back lately
	moved     chan struct{} // closed when last moves; nil: nobody waits for it
	repairing bool          // a repairer has it, or will: only one at a time
	checks    int8          // comparisons with the store still to come, because it is new
	checkAt   int64         // tick
	timer     timer
	wake      int64 // tick the timer is armed for; 0: not armed
}

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

// accept takes a message in whatever order it comes, and returns the signals that have waited for it.
func (t *topic) accept(m Message) []heldSignal {
	if m.Seq <= 0 {
		t.deliver(m)
		return nil
	}
	if t.last == unsequenced {
		t.last = m.Seq - 1
	}
	switch {
	case m.Seq <= t.last:
		return nil
	case m.Seq == t.last+1:
		t.deliver(m)
		t.step()
		return t.advance()
	}
	t.missing(m.Seq)
	t.gap.keep(m)
	return nil
}

// deliver queues a message to all listeners. It is encoded at the first one that wants the encoding.
func (t *topic) deliver(m Message) {
	if m.Seq > 0 {
		t.remember(m)
	}
	var frames [2][]byte
	var encoded [2]bool
	for _, s := range t.subs {
		if m.Seq > 0 && m.Seq <= s.after || s.end == over {
			continue
		}
		e := s.conn.enc
		if !encoded[e] {
			encoded[e] = true
			if payload := t.hub.o.Encode(e, t.name, m); len(payload) > 0 {
				frames[e] = newFrame(e, payload)
			}
		}
		if frames[e] != nil {
			s.conn.enqueue(item{frame: frames[e], shed: m.Seq <= 0})
		}
	}
	t.hub.counts.delivered.Add(uint64(len(t.subs)))
	if m.Seq > 0 && (m.Last != "" || t.endings > 0) {
		t.cut(m)
	}
}

// publishHere delivers a message to local listeners.
func (h *Hub) publishHere(name string, m Message) {
	t := h.reach(name)
	if t == nil {
		return
	}
	ready := t.accept(m)
	conns := t.listeners(ready)
	h.exit(t)
	notify(name, conns, ready)
}

// signalHere calls the local handlers, behind the messages that are known but still missing.
func (h *Hub) signalHere(name string, data []byte) {
	t := h.reach(name)
	if t == nil {
		return
	}
	signal := []heldSignal{{data: data}}
	if t.gap != nil && t.gap.hold(data) {
		signal = nil
	}
	conns := t.listeners(signal)
	t.mu.Unlock()
	notify(name, conns, signal)
}

// listeners copies who is to get the signals, because a handler may subscribe and unsubscribe.
func (t *topic) listeners(signals []heldSignal) []*Conn {
	if len(signals) == 0 {
		return nil
	}
	conns := make([]*Conn, len(t.subs))
	for i, s := range t.subs {
		conns[i] = s.conn
	}
	return conns
}

// notify calls the handlers without any lock.
func notify(name string, conns []*Conn, signals []heldSignal) {
	for _, signal := range signals {
		for _, c := range conns {
			c.handler.Signal(name, signal.data)
		}
	}
}
