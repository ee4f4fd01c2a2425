package hub

// roundSize is how many connections one goroutine flushes at most, so that a broadcast keeps all cores at work.
const roundSize = 64

// round is one flusher for several connections, which saves each of them a goroutine. It writes only what their sockets
// take at once; who takes less gets a flusher of his own, so nobody waits for anybody.
type round struct {
	// static
	hub *Hub
	run func() // r.flush as a value: starting it allocates nothing

	conns [roundSize]*Conn // the first n; their flushers count as started
	n     int
}

func newRound(h *Hub) *round {
	r := &round{hub: h}
	r.run = r.flush
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
	t := r.hub.pools.tries.Get().(*try)
	for i, c := range r.conns[:r.n] {
		r.conns[i] = nil
		t.flush(c)
	}
	r.n = 0
	r.hub.pools.giveTry(t)
	r.hub.pools.rounds.Put(r)
}
