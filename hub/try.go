package hub

import "slices"

// try writes what is queued as far as the sockets take it at once. So whoever has queued something may write it himself,
// which saves a goroutine, and be held up by nobody. It is lent from a pool.
type try struct {
	write  func(fd uintptr) // t.writeOut as a value: passing it on allocates nothing
	buffer []byte           // joined frames
	out    []byte           // what write is to write
	sent   int              // how much of it the socket has taken
}

func newTry() *try {
	t := &try{}
	t.write = t.writeOut
	return t
}

// flush is a connection's turn: one try, and what is left or has been queued meanwhile is for a flusher of its own. The
// flusher of the connection counts as started.
func (t *try) flush(c *Conn) {
	b := c.take()
	if b == nil {
		return
	}
	n := 1
	if t.out = b.items[0].frame; len(b.items) > 1 {
		t.out, n = join(t.buffer[:0], c.enc, b.items)
		if n > 1 { // a lone long one is not in the buffer
			t.buffer = t.out[:0]
		}
	}
	if t.sent = 0; n == len(b.items) { // else it takes several Writes
		_ = c.raw.Control(t.write) // not Write, which waits for whoever is writing; an error is that of the next Write, too
	}
	switch t.sent {
	case len(t.out):
		c.gone(b.items)
		c.written(b, true)
		c.settle()
	case 0:
		go c.flushOn(b, nil)
	default:
		go c.flushOn(b, slices.Clone(t.out[t.sent:]))
	}
}

func (t *try) writeOut(fd uintptr) { t.sent = writeOnce(fd, t.out) }

// giveTry puts a try back.
func (p *pools) giveTry(t *try) {
	t.out = nil
	if cap(t.buffer) > keepBuffer {
		t.buffer = nil
	}
	p.tries.Put(t)
}
