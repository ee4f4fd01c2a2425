package hub

import (
	"bytes"
	"encoding/binary"
)

// A reader that waits costs a stack and a goroutine, a third of what an idle connection does, and to be woken for each message. So a
// connection has none when its socket is empty: it is parked, and an ear hears for it, one of a few goroutines that hear for
// all. What comes in one piece, and can be handled without waiting for anybody, the ear has handled itself. Anything else is
// for a reader, which parks again behind its message.

// park leaves the socket to an ear, which hears what comes next; false: the caller has to go on reading. It is the last thing
// that a reader does.
func (c *Conn) park() bool {
	return c.line != nil && c.line.silent() && c.parkAgain() && (c.hub.ears.add(c) || !c.unpark())
}

// parkAgain is park for the ear that hears for the connection already.
func (c *Conn) parkAgain() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parked = !c.closing // then the peer's close frame is awaited, with a deadline
	return c.parked
}

// unpark tells whether the caller has to read, or to start a reader.
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

// hear handles what an ear has read, which is valid only meanwhile; all: there is nothing else. Flush is as of Handler.Frame. Who is
// not parked again takes a reader: there is more to come, or who handles it may have to wait.
func (c *Conn) hear(data []byte, all bool) (flush, parked bool) {
	c.line.heard = data
	if all && isMessage(data) && c.handler.Idle() && c.owed.Load() <= int64(c.hub.o.QueueBytes) { // idle first: then nobody owes him more
		var err error
		if flush, err = c.took(c.ws.NextReader()); err == nil && c.line.silent() {
			return flush, c.parkAgain()
		}
	}
	c.line.heard = bytes.Clone(c.line.heard)
	return flush, false
}

// isMessage tells whether the bytes are one message of one frame, of a client, and nothing else: who reads that neither waits nor fails.
func isMessage(b []byte) bool {
	const masked, key = 0x80, 4
	if len(b) < 2 || b[0] != opText && b[0] != opBinary || b[1]&masked == 0 {
		return false
	}
	switch n := int(b[1] &^ masked); {
	case n < 126:
		return len(b) == 2+key+n
	case n == 126 && len(b) > 4:
		return len(b) == 4+key+int(binary.BigEndian.Uint16(b[2:]))
	}
	return false
}
