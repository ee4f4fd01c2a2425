package chaos

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// gate lets the users act while it is open, and knows what they wait for.
type gate struct {
	mu      sync.Mutex
	opened  chan struct{} // closed while the gate is open
	isOpen  bool
	number  int
	waiting map[int]call // requests without a final answer
}

// call is a request that is under way.
type call struct {
	what  string
	since time.Time
}

func newGate() *gate { return &gate{opened: make(chan struct{}), waiting: map[int]call{}} }

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen {
		g.isOpen = true
		close(g.opened)
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen {
		g.isOpen = false
		g.opened = make(chan struct{})
	}
}

// whenOpen returns a channel that is closed while the gate is open.
func (g *gate) whenOpen() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened
}

// enter begins a request, unless the gate is closed. The caller must call leave when the request is answered.
func (g *gate) enter(what string) (leave func(), ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen {
		return nil, false
	}
	g.number++
	n := g.number
	g.waiting[n] = call{what, time.Now()}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.waiting, n)
	}, true
}

// awaitAnswers waits until all requests are answered, and returns those that are not within the limit.
func (g *gate) awaitAnswers(limit time.Duration) (unanswered []string) {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		g.mu.Lock()
		n := len(g.waiting)
		if n > 0 && time.Now().After(deadline) {
			for _, c := range g.waiting {
				unanswered = append(unanswered, fmt.Sprintf("not answered: %s, for %v", c.what, time.Since(c.since).Round(time.Second)))
			}
		}
		g.mu.Unlock()
		if n == 0 || len(unanswered) > 0 {
			slices.Sort(unanswered)
			return unanswered
		}
	}
}
