package load

import (
	"context"
	"sync"
	"time"
)

// gate holds back the connects of users while it is shut, so that all users connect at the same time when it opens. It starts open.
type gate struct {
	mu     sync.Mutex
	shut   chan struct{} // guarded by mu; closed when the gate opens; nil: the gate was never shut
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

// pass waits while the gate is shut, or until ctx ends. It returns the time of the last opening; zero: there was none.
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
