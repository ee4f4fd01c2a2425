package hub

import (
	"bufio"
	"time"
)

// A reader that waits costs a stack and a goroutine, a third of what an idle connection does. So when a connection has been
// quiet before a message, its reader ends behind it, and the next one is started when there is something to read. Who
// says much keeps his.

// quietAfter is how long nothing came of a connection that is quiet.
const quietAfter = time.Second

// ReadThrough says what the socket is read through; only if that is known, and empty, nobody has to wait for the socket. It is
// for who makes the handler.
func (c *Conn) ReadThrough(b *bufio.Reader) { c.unread = b }

// wasQuiet notes that something came, and tells whether nothing had for a while.
func (c *Conn) wasQuiet() bool {
	last := c.cameAt
	c.cameAt = c.hub.wheels.now()
	return c.cameAt-last > int64(quietAfter/tick)
}

// park leaves the socket to the hub's watch, which starts the next reader; false: the caller has to go on reading. It is the
// last thing that a reader does.
func (c *Conn) park() bool {
	if c.raw == nil || c.unread == nil || c.unread.Buffered() > 0 {
		return false
	}
	c.mu.Lock()
	parked := !c.closing // then the peer's close frame is awaited, with a deadline
	c.parked = parked
	c.mu.Unlock()
	if !parked {
		return false
	}
	return c.hub.watch.add(c) || !c.unpark()
}

// unpark tells whether the caller has to start a reader.
func (c *Conn) unpark() (parked bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	parked, c.parked = c.parked, false
	return parked
}

// unparkLocked starts a reader if there is none.
func (c *Conn) unparkLocked() {
	if c.parked {
		c.parked = false
		go c.read()
	}
}
