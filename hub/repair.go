package hub

import (
	"context"
	"sync"
	"time"
)

const (
	// repairers is how many gaps are repaired at once.
	repairers = 4
	// fetchPage is how many messages one Fetch asks for.
	fetchPage = 500
	// storeTimeout bounds one call to the store.
	storeTimeout = 5 * time.Second
)

// topicQueue hands topics from the clock to the goroutines that may wait for the store.
type topicQueue struct {
	wake chan struct{} // one slot, never closed

	mu     sync.Mutex
	topics []*topic
}

func (q *topicQueue) add(t *topic) {
	q.mu.Lock()
	q.topics = append(q.topics, t)
	q.mu.Unlock()
	q.ring()
}

func (q *topicQueue) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take gives at most n topics, and wakes another taker if some are left.
func (q *topicQueue) take(n int) []*topic {
	q.mu.Lock()
	defer q.mu.Unlock()
	n = min(n, len(q.topics))
	taken := q.topics[:n:n]
	q.topics = q.topics[n:]
	if len(q.topics) == 0 {
		q.topics = nil
	} else {
		q.ring()
	}
	return taken
}

// runRepair is one repairer.
func (h *Hub) runRepair(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.repairs.wake:
		}
		for _, t := range h.repairs.take(1) {
			for h.repair(ctx, t) {
			}
		}
	}
}

// repair fetches one page of what a topic misses; true: there is another page to fetch at once.
func (h *Hub) repair(ctx context.Context, t *topic) (more bool) {
	t.mu.Lock()
	if t.gap == nil {
		t.repairing = false
		t.mu.Unlock()
		return false
	}
	after := t.last
	top := t.gap.top
	t.mu.Unlock()

	through := min(top, after+fetchPage)
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	read, err := h.o.Fetch(ctx, []Span{{Topic: t.name, After: after, Through: through}})
	if err != nil {
		h.o.Log.Warn("gap not repaired", "topic", t.name, "after", after, "through", through, "err", err)
	}

	t.mu.Lock()
	var ready []heldSignal
	for _, m := range read[t.name] {
		ready = append(ready, t.accept(m)...)
	}
	moved := t.last > after
	if moved {
		h.counts.repairs.Add(1)
	}
	more = moved && through < top && t.gap != nil && len(t.subs) > 0
	if !more {
		t.repairing = false
		switch {
		case t.gap == nil, len(t.subs) == 0:
		case moved:
			t.wakeBy(t.gap.due)
		default:
			t.retryLater()
		}
	}
	conns := t.listeners(ready)
	h.exit(t)
	notify(t.name, conns, ready)
	return more
}
