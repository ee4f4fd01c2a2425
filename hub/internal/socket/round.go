package socket

import "sync"

// roundSize is the largest number of connections in a Round. A broadcast to more connections uses several goroutines,
// and so several cores.
const roundSize = 64

var rounds sync.Pool // pool of *Round

// Flusher is a connection with queued data to write.
type Flusher interface {
	// Flush writes the queued data, as far as that is possible without blocking.
	Flush()
}

// Round is a list of connections that one goroutine flushes in turn, so that each needs no goroutine of its own. It
// blocks on none of them.
type Round struct {
	run     func() // r.flush as a value: starting it allocates nothing; static
	members [roundSize]Flusher
	n       int
}

// newRound takes an empty round from the pool.
func newRound() *Round {
	if r, ok := rounds.Get().(*Round); ok {
		return r
	}
	r := &Round{}
	r.run = r.flush
	return r
}

// Join adds a connection to the round and returns the round to use for the next connection: a full round is started and
// replaced. r may be nil, which is an empty round.
func (r *Round) Join(c Flusher) *Round {
	if r == nil {
		r = newRound()
	}
	r.members[r.n] = c
	r.n++
	if r.n < roundSize {
		return r
	}
	go r.run()
	return nil
}

// Start flushes the connections of the round on a new goroutine. The caller must not use the round afterwards.
func (r *Round) Start() {
	if r != nil {
		go r.run()
	}
}

func (r *Round) flush() {
	for i, c := range r.members[:r.n] {
		r.members[i] = nil
		c.Flush()
	}
	r.n = 0
	rounds.Put(r)
}
