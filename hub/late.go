package hub

import "sync"

// lateShare is which part of a queue's bound may wait for the clock.
const lateShare = 16

// late are the connections whose pushes wait for the clock: what may be shed may also come a tick later, and by then often
// leaves in one write with a reply or a message. A write is the dearest part of a push, here and at the client.
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

// flushLate flushes those who have waited for the clock.
func (h *Hub) flushLate() {
	h.late.mu.Lock()
	conns := h.late.conns
	h.late.conns = nil
	h.late.mu.Unlock()
	var next *round
	for _, c := range conns {
		if c.endWait() {
			next = next.join(c)
		}
	}
	next.start()
}

// endWait is the connection's tick; true: the caller sees to it that someone writes what is queued.
func (c *Conn) endWait() (wake bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = false
	return c.mustWakeLocked()
}
