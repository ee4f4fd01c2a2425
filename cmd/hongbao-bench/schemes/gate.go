package schemes

import (
	"context"
	"errors"
	"sync"
)

// ErrKilled is what whoever still asks hears after Kill: nothing of his reaches the database any more.
var ErrKilled = errors.New("killed")

// gate is the way to a database. It can be shut for a while, to see what a scheme has said and not stored yet, and for
// ever, as for a process that dies at this very place.
type gate struct {
	killed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	hold *Held // nil: open
}

// Held is a gate that lets nobody through.
type Held struct {
	gate    *gate
	after   int           // guarded by gate.mu; so many more may pass
	waiting chan struct{} // one for each who has come to wait
	open    chan struct{}
	once    sync.Once
}

// Waiting hears of each who has come so far that only the database is left to be asked.
func (h *Held) Waiting() <-chan struct{} { return h.waiting }

// Release lets all through. It can be called twice.
func (h *Held) Release() {
	h.once.Do(func() {
		h.gate.mu.Lock()
		h.gate.hold = nil
		h.gate.mu.Unlock()
		close(h.open)
	})
}

// Hold lets so many more statements and transactions begin, and then none until it is released.
func (g *gate) Hold(after int) *Held {
	h := &Held{gate: g, after: after, waiting: make(chan struct{}, 10_000), open: make(chan struct{})}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = h
	return h
}

// Kill ends the way to the database for ever, for those too who wait. What has begun is not torn apart.
func (g *gate) Kill() { g.once.Do(func() { close(g.killed) }) }

// Killed is closed by Kill.
func (g *gate) Killed() <-chan struct{} { return g.killed }

// Pass returns as soon as the gate is open.
func (g *gate) Pass(ctx context.Context) error {
	select {
	case <-g.killed:
		return ErrKilled
	default:
	}
	g.mu.Lock()
	h := g.hold
	if h == nil || h.after > 0 {
		if h != nil {
			h.after--
		}
		g.mu.Unlock()
		return nil
	}
	g.mu.Unlock()
	h.waiting <- struct{}{}
	select {
	case <-h.open:
		return nil
	case <-g.killed:
		return ErrKilled
	case <-ctx.Done():
		return ctx.Err()
	}
}
