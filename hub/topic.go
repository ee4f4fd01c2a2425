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
	var next *round
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
			if s.conn.enqueueLate(item{frame: frames[e], shed: m.Seq <= 0, late: m.Seq <= 0 || m.Late}) {
				next = next.join(s.conn)
			}
		}
	}
	next.start()
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
