package schemes

import (
	"context"
	"errors"
	"sync"
)

// ErrKilled is the error of statements that did not begin before Kill: they do not reach the database.
var ErrKilled = errors.New("killed")

// gate stops statements before they reach a database. Each statement passes the gate once, and so does each transaction. A
// scenario of package flaws can hold the gate for a while, to see which grabs are answered before they are stored. Kill closes
// the gate for ever, as if the process died at this step.
type gate struct {
	killed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	hold *Held // nil: open
}

// Held is a hold of a gate: it lets a number of statements or transactions through, and no others until Release.
type Held struct {
	gate    *gate
	after   int           // guarded by gate.mu; number of statements or transactions that may still pass
	waiting chan struct{} // one value for each waiting statement
	open    chan struct{}
	once    sync.Once
}

// Waiting receives a value for each statement that waits at the gate.
func (h *Held) Waiting() <-chan struct{} { return h.waiting }

// Release lets all statements through, unless Kill was called. It can be called more than once.
func (h *Held) Release() {
	h.once.Do(func() {
		h.gate.mu.Lock()
		h.gate.hold = nil
		h.gate.mu.Unlock()
		close(h.open)
	})
}

// Hold lets this number of further statements and transactions begin, and then none until Release is called.
func (g *gate) Hold(after int) *Held {
	h := &Held{gate: g, after: after, waiting: make(chan struct{}, 10_000), open: make(chan struct{})}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = h
	return h
}

// Kill closes the gate for ever, also for waiting statements. Statements that have begun are completed.
func (g *gate) Kill() { g.once.Do(func() { close(g.killed) }) }

// Pass blocks until the gate is open. It returns ErrKilled after Kill, and the error of ctx if ctx ends while it waits.
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
