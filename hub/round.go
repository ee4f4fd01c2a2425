package hub

import "slices"

// roundSize is how many connections one goroutine flushes at most, so that a broadcast keeps all cores at work.
const roundSize = 64

// round is one flusher for several connections, which saves each of them a goroutine. It writes only what their sockets
// take at once; who takes less gets a flusher of his own, so nobody waits for anybody.
type round struct {
	// static
	hub *Hub
	run func()           // r.flush as a value: starting it allocates nothing
	try func(fd uintptr) // r.write as a value

	conns [roundSize]*Conn // the first n; their flushers count as started
	n     int

	buffer []byte // joined frames
	out    []byte // what try is to write
	sent   int    // how much of it the socket has taken
}

func newRound(h *Hub) *round {
	r := &round{hub: h}
	r.run, r.try = r.flush, r.write
	return r
}

// join adds a connection that is to be flushed, and gives the round for the next one; nil: there is none yet.
func (r *round) join(c *Conn) *round {
	if c.raw == nil {
		go c.flusher()
		return r
	}
	if r == nil {
		r = c.hub.pools.rounds.Get().(*round)
	}
	r.conns[r.n] = c
	r.n++
	if r.n < roundSize {
		return r
	}
	go r.run()
	return nil
}

// start flushes those who have joined, if anyone has.
func (r *round) start() {
	if r != nil {
		go r.run()
	}
}

func (r *round) flush() {
	for i, c := range r.conns[:r.n] {
		r.conns[i] = nil
		r.flushOne(c)
	}
	r.n, r.out = 0, nil
	if cap(r.buffer) > keepBuffer {
		r.buffer = nil
	}
	r.hub.pools.rounds.Put(r)
}

// flushOne is one connection's turn: one try, and what is left or has been queued meanwhile is for another flusher.
func (r *round) flushOne(c *Conn) {
	b := c.take()
	if b == nil {
		return
	}
	n := 1
	if r.out = b.items[0].frame; len(b.items) > 1 {
		r.out, n = join(r.buffer[:0], c.enc, b.items)
		if n > 1 { // a lone long one is not in the buffer
			r.buffer = r.out[:0]
		}
	}
	if r.sent = 0; n == len(b.items) { // else it takes several Writes
		c.giveTime()
		_ = c.raw.Control(r.try) // not Write, which waits for whoever is writing; an error is that of the next Write, too
	}
	switch r.sent {
	case len(r.out):
		c.gone(b.items)
		c.written(b, true)
		c.settle()
	case 0:
		go c.flushOn(b, nil)
	default:
		go c.flushOn(b, slices.Clone(r.out[r.sent:]))
	}
}

// write is one try, without waiting.
func (r *round) write(fd uintptr) { r.sent = writeOnce(fd, r.out) }
