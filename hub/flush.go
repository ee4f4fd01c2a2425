package hub

import "time"

const (
	// writeTimeout is how long one Write may take at most, half of it at least.
	writeTimeout = 10 * time.Second
	// closeTimeout is how long the peer has to answer a close frame.
	closeTimeout = 3 * time.Second
)

// flush writes until the queue is empty. At most one runs per connection; only it writes.
func (c *Conn) flush() {
	for {
		b := c.take()
		if b == nil {
			return
		}
		c.written(b, c.writeAll(b.items))
	}
}

// written is the end of a batch, all of which has been written, or as much as could be.
func (c *Conn) written(b *batch, ok bool) {
	goodbye := b.items[len(b.items)-1].frame[0] == opClose
	c.hub.pools.giveBatch(b)
	switch {
	case !ok:
		c.fail()
	case goodbye:
		c.awaitPeer()
	}
}

// flushOn goes on where a round has left off: with a batch of which rest has not been taken by the socket; nil: all of it.
func (c *Conn) flushOn(b *batch, rest []byte) {
	if rest != nil {
		c.written(b, c.write(rest, b.items))
	} else {
		c.written(b, c.writeAll(b.items))
	}
	c.flush()
}

// take gives the flusher everything that is queued: one frame or fifty, one lock. nil ends the flusher, and the
// connection too if the reader has ended before.
func (c *Conn) take() *batch {
	c.mu.Lock()
	b := c.queue
	c.queue = nil
	c.flushing = b != nil
	last := b == nil && c.left
	c.mu.Unlock()
	if last {
		c.finish()
	}
	return b
}

// settle is the end of a connection's turn in a round: as take, but what has been queued meanwhile gets a flusher.
func (c *Conn) settle() {
	c.mu.Lock()
	more := c.queue != nil
	c.flushing = more
	last := !more && c.left
	c.mu.Unlock()
	switch {
	case more:
		go c.flusher()
	case last:
		c.finish()
	}
}

// writeAll writes the frames in as few Writes as the frame bound allows.
func (c *Conn) writeAll(items []item) bool {
	if len(items) == 1 {
		return c.write(items[0].frame, items)
	}
	pool := &c.hub.pools.writes
	buffer := pool.Get().(*[]byte)
	defer giveBuffer(pool, buffer)
	for len(items) > 0 {
		out, n := join((*buffer)[:0], c.enc, items)
		ok := c.write(out, items[:n])
		items = items[n:]
		if !ok {
			c.gone(items)
			return false
		}
		if n > 1 { // a lone long one is not in the buffer
			*buffer = out[:0]
		}
	}
	return true
}

// join makes the next Write out of the first n items, in b or, for a long one, as it is: messages that follow one
// another share a frame, control frames stay whole.
func join(b []byte, e Encoding, items []item) (out []byte, n int) {
	if len(items[0].frame) >= joinedBytes {
		return items[0].frame, 1
	}
	for n < len(items) && len(b) < joinedBytes {
		if isControl(items[n].frame) {
			b = append(b, items[n].frame...)
			n++
			continue
		}
		if len(items[n].frame) >= joinedBytes {
			break
		}
		end, size := fitting(items, n)
		b = appendJoined(b, e, items[n:end], size)
		n = end
	}
	return b, n
}

// fitting finds the messages from start on that fit into one frame, and their bytes.
func fitting(items []item, start int) (end, size int) {
	for end = start; end < len(items); end++ {
		frame := items[end].frame
		if isControl(frame) || end > start && size+len(frame) > joinedBytes {
			break
		}
		size += len(body(frame))
	}
	return end, size
}

// write sends items as whole frames.
func (c *Conn) write(frames []byte, items []item) bool {
	c.giveTime()
	_, err := c.ws.NetConn().Write(frames)
	c.gone(items)
	return err == nil
}

// giveTime sets the write deadline. That is a runtime timer: it is moved only when half of it is used up.
func (c *Conn) giveTime() {
	if now := time.Since(c.hub.wheels.start); c.writeBy-now < writeTimeout/2 {
		c.writeBy = now + writeTimeout
		c.ws.NetConn().SetWriteDeadline(c.hub.wheels.start.Add(c.writeBy))
	}
}

// gone notes that frames have left the queue, whatever became of them.
func (c *Conn) gone(items []item) {
	replies := false
	for _, it := range items {
		c.count(it, -1)
		replies = replies || it.reply
	}
	if replies {
		c.mu.Lock()
		c.letGoLocked()
		c.mu.Unlock()
	}
}
