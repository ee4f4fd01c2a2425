package hub

import (
	"context"
	"log/slog"
	"time"
)

const (
	// repairers is how many topics with missing messages are repaired concurrently.
	repairers = 4
	// fetchPage is the largest number of messages that one fetch asks for.
	fetchPage = 500
	// storeTimeout bounds one call to the store.
	storeTimeout = 5 * time.Second
)

// repairer fetches missing messages of topics from the store.
type repairer struct {
	// static
	topics *registry
	fetch  fetcher
	counts *counters
	log    *slog.Logger

	queue workQueue[*topic]
}

// run repairs topics, one after another, until ctx is done.
func (r *repairer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.queue.wake:
		}
		for _, t := range r.queue.take(1) {
			for r.repair(ctx, t) {
			}
		}
	}
}

// repair fetches one page of a topic's missing messages. If it returns true, the caller must fetch another page at
// once.
func (r *repairer) repair(ctx context.Context, t *topic) (more bool) {
	t.mu.Lock()
	if t.gap == nil {
		t.repairing = false
		t.mu.Unlock()
		return false
	}
	after, top := t.last, t.gap.top
	t.mu.Unlock()

	through := min(top, after+fetchPage)
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	fetched, err := r.fetch(ctx, []Span{{Topic: t.name, After: after, Through: through}})
	if err != nil {
		r.log.Warn("gap not repaired", "topic", t.name, "after", after, "through", through, "err", err)
	}

	t.mu.Lock()
	var ready []heldSignal
	for _, m := range fetched[t.name] {
		ready = append(ready, t.accept(m)...)
	}
	advanced := t.last > after
	if advanced {
		r.counts.repairs.Add(1)
	}
	more = advanced && through < top && t.gap != nil && len(t.subscriptions) > 0
	if !more {
		t.repairing = false
		switch {
		case t.gap == nil, len(t.subscriptions) == 0:
		case advanced:
			t.wakeBy(t.gap.due)
		default:
			t.gap.due = t.env.wheels.After(t.gap.backoff())
			t.wakeBy(t.gap.due)
		}
	}
	subscribers := t.subscribers(ready)
	r.topics.unlock(t)
	signalAll(t.name, subscribers, ready)
	return more
}
