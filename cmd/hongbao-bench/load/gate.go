package load

import (
	"context"
	"sync"
	"time"
)

// gate keeps users from connecting, to let all of them through at once. It begins open.
type gate struct {
	mu     sync.Mutex
	shut   chan struct{} // guarded by mu; closed when the gate opens; nil: it never was shut
	opened time.Time     // guarded by mu
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = time.Now()
	close(g.shut)
}

// pass waits while the gate is shut, and tells when it was opened last.
func (g *gate) pass(ctx context.Context) time.Time {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		select {
		case <-shut:
		case <-ctx.Done():
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}
