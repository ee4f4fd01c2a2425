package hub

import (
	"time"

	"github.com/gorilla/websocket"
)

// The close codes that are the hub's own decisions.
const (
	CloseSlow     = 3008 // the client did not take its messages
	CloseNoPong   = 3012 // the client did not answer a ping
	CloseProtocol = 3501 // the client sent a text message that is not UTF-8
)

// Close sends what is queued, then the close frame, and hangs up. The first call wins.
func (c *Conn) Close(code int, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeLocked(code, reason)
}

// closeLocked queues the close frame behind all that is queued. What is held back goes: it has not been allowed out.
func (c *Conn) closeLocked(code int, reason string) {
	if c.closing {
		return
	}
	c.code = code
	c.closeWithLocked(newClose(code, reason))
}

func (c *Conn) closeWithLocked(frame []byte) {
	c.stopLocked()
	c.dropLocked(&c.held)
	bye := item{frame: frame}
	c.count(bye, 1)
	c.push(&c.queue, bye)
	c.wakeLocked()
}

// stopLocked lets nothing more be queued, and nobody wait for it. There is a reader from now on, to hear the end.
func (c *Conn) stopLocked() {
	c.closing = true
	c.unparkLocked()
	c.letGoLocked()
}

// peerClosed answers the peer's close frame with its own code; nothing else is sent any more.
func (c *Conn) peerClosed(code int, _ string) error {
	if code == websocket.CloseNoStatusReceived {
		code = 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.byPeer = true
		c.dropLocked(&c.queue)
		c.closeWithLocked(newClose(code, ""))
	}
	return nil
}

// silence lets nothing more be written, because gorilla has said goodbye.
func (c *Conn) silence() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.code = websocket.CloseProtocolError
	}
	c.stopLocked()
	c.dropLocked(&c.queue)
	c.dropLocked(&c.held)
}

// fail hangs up a broken socket, which ends the reader and the flusher.
func (c *Conn) fail() {
	c.mu.Lock()
	c.stopLocked()
	c.dropLocked(&c.queue)
	c.dropLocked(&c.held)
	c.mu.Unlock()
	c.ws.Close()
}

func (c *Conn) isClosing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

// awaitPeer gives the peer a moment to answer our close frame. Called by the flusher when it has written it.
func (c *Conn) awaitPeer() {
	c.ws.NetConn().SetReadDeadline(time.Now().Add(closeTimeout))
}

// leave is the end of the reader.
func (c *Conn) leave() {
	c.mu.Lock()
	c.stopLocked()
	subs := c.subs
	c.subs = nil
	c.timer.disarm()
	c.mu.Unlock()
	if c.line != nil {
		c.hub.ears.forget(c)
	}
	for _, s := range subs {
		s.topic.mu.Lock()
		s.topic.drop(s)
		c.hub.exit(s.topic)
	}
	c.handler.Closed()

	c.mu.Lock()
	c.left = true
	last := !c.flushing
	c.mu.Unlock()
	if last {
		c.finish()
	}
}

// finish closes the socket when reader and flusher have both ended; the later of them calls it.
func (c *Conn) finish() {
	c.ws.Close()
	c.hub.counts.close(c.code, c.byPeer)
	c.hub.remove(c)
}
