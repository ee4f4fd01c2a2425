package hub

import "sync"

// lateShare is which part of a queue's bound may wait for the clock.
const lateShare = 16

// lateTicks is how many ticks a push waits at most for a reply to leave with, which its client awaits.
const lateTicks = 4

// late are the connections whose pushes wait for the clock: what may come a tick later by then often leaves in one write with
// a reply or a message. A write is the dearest part of a push, here and at the client.
type late struct {
	mu    sync.Mutex
	conns []*Conn // guarded by mu
}

// waitLocked has the connection flushed at the next tick, if nobody flushes it before.
func (l *late) waitLocked(c *Conn) {
	if c.late || c.flushing {
		return
	}
	c.late = true
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
}

// flushLate flushes those who have waited for the clock, but not yet who is about to get a reply.
func (h *Hub) flushLate() {
	h.late.mu.Lock()
	conns := h.late.conns
	h.late.conns = nil
	h.late.mu.Unlock()
	var next *round
	waiting := conns[:0]
	for _, c := range conns {
		switch wait, wake := c.endWait(!c.handler.Idle()); {
		case wait:
			waiting = append(waiting, c)
		case wake:
			next = next.join(c)
		}
	}
	next.start()
	h.late.waitOn(waiting)
}

// waitOn is waitLocked for those who wait already.
func (l *late) waitOn(conns []*Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, conns...)
}

// endWait is the connection's tick; busy: it awaits a reply. Wait: until the next tick. Wake: the caller sees to it that someone writes
// what is queued.
func (c *Conn) endWait(busy bool) (wait, wake bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waited++
	if busy && c.waited < lateTicks {
		return true, false
	}
	c.late, c.waited = false, 0
	return false, c.mustWakeLocked()
}
