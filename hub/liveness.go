package hub

import "time"

// messageWithin is how long a message may take from its first frame to its last. It is looked at when the timer fires anyway.
const messageWithin = 30 * time.Second

// CloseAt closes the connection with code at t, unless it is called again before; the zero time: never.
func (c *Conn) CloseAt(t time.Time, code int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeAt, c.expiry = 0, expiry{code, reason}
	if !t.IsZero() {
		c.closeAt = max(1, c.hub.wheels.at(t))
	}
	c.rearmLocked()
}

// rearmLocked sets the connection's timer to the earliest tick at which something is to be done.
func (c *Conn) rearmLocked() {
	if c.closing {
		return
	}
	var due int64
	for _, at := range [...]int64{c.pingAt, c.pongBy, c.closeAt} {
		if at != 0 && (due == 0 || at < due) {
			due = at
		}
	}
	if due == 0 {
		c.timer.disarm()
		return
	}
	c.timer.arm(due)
}

// fire does what is due: expire, give up on a silent peer, ping.
func (c *Conn) fire(now int64, next *round) *round {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closeAt != 0 && now >= c.closeAt {
		c.closeLocked(c.expiry.code, c.expiry.reason)
	}
	if c.pongBy != 0 && now >= c.pongBy {
		c.pongBy = 0
		// While the handler holds the reader up, nothing can be heard: that is no silence of the peer.
		if !c.busy.Load() && !c.heard.Load() {
			c.closeLocked(CloseNoPong, "no pong")
		}
	}
	// WebSocket pings in the midst of a message prove that the peer lives, but not that the message will ever end: it would hold
	// its buffer for as long.
	if begun := c.begun.Load(); begun != 0 && now-begun > int64(messageWithin/tick) {
		c.closeLocked(CloseNoPong, "no pong")
	}
	if c.pingAt != 0 && now >= c.pingAt && !c.closing {
		c.heard.Store(false)
		if c.queueLocked(item{frame: c.hub.pings[c.enc]}) {
			next = next.join(c)
		}
		c.pingAt = c.hub.wheels.after(c.hub.o.PingEvery)
		c.pongBy = c.hub.wheels.after(c.hub.o.PongWithin)
	}
	c.rearmLocked()
	return next
}
