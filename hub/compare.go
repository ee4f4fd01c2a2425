package hub

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// compareEvery is the safety net: every sequenced topic is compared with the store.
	compareEvery = time.Minute
	// downEvery is the same while the bus is down.
	downEvery = 1500 * time.Millisecond
	// comparePage is how many topics one LastSeqs asks for.
	comparePage = 500
	// A new topic is compared twice. A message committed after the subscriber read its seq, and published before the
	// subscription had effect (on the bus it takes a moment), left no trace here.
	checkAfter   = 100 * time.Millisecond
	recheckAfter = time.Second
)

// suspects are topics that may have missed messages.
type suspects struct {
	topicQueue
	everything atomic.Bool
}

// suspectAll asks for a comparison of every topic.
func (h *Hub) suspectAll() {
	h.suspects.everything.Store(true)
	h.suspects.ring()
}

// checkSoon has a topic compared that has just become sequenced.
func (t *topic) checkSoon() {
	t.checks = 2
	t.checkAt = t.hub.wheels.after(checkAfter)
	t.wakeBy(t.checkAt)
}

// runCompare is the comparer.
func (h *Hub) runCompare(ctx context.Context) {
	ticker := time.NewTicker(compareEvery)
	defer ticker.Stop()
	down := time.NewTicker(downEvery)
	defer down.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			h.suspectAll()
		case <-down.C:
			if h.down.Load() {
				h.suspectAll()
			}
		case <-h.suspects.wake:
			topics := h.suspects.take(comparePage)
			if h.suspects.everything.Swap(false) {
				topics = h.all()
			}
			h.compareAll(ctx, topics)
		}
	}
}

// compareAll does not give up before all are compared or ctx is done.
func (h *Hub) compareAll(ctx context.Context, topics []*topic) {
	wait := gapWait
	for len(topics) > 0 {
		n := min(len(topics), comparePage)
		err := h.compare(ctx, topics[:n])
		if err == nil {
			topics, wait = topics[n:], gapWait
			continue
		}
		h.o.Log.Warn("topics not compared", "count", len(topics), "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			wait = min(2*wait, maxRetry)
		}
	}
}

// compare asks the store for the last seq of topics; those that lag behind get a gap to repair.
func (h *Hub) compare(ctx context.Context, topics []*topic) error {
	names := make([]string, 0, len(topics))
	for _, t := range topics {
		t.mu.Lock()
		if t.last != unsequenced && !t.dead.Load() {
			names = append(names, t.name)
		}
		t.mu.Unlock()
	}
	if len(names) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	lasts, err := h.o.LastSeqs(ctx, names)
	if err != nil {
		return err
	}
	for _, t := range topics {
		t.mu.Lock()
		if last := lasts[t.name]; last > t.last && t.last != unsequenced && !t.dead.Load() {
			t.missing(last)
		}
		t.mu.Unlock()
	}
	return nil
}
