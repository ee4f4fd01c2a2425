package hub

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"hongbao/hub/internal/wheel"
	"hongbao/hub/internal/work"
)

const (
	// gapWait is how long a topic waits for a missing message before it reads it from the store. Concurrent publishers
	// may cause messages to arrive out of order.
	gapWait = 100 * time.Millisecond
	// maxRetry is the longest wait between two failed reads from the store.
	maxRetry = 5 * time.Second
	// maxWaiting bounds the messages that wait behind a gap, and likewise the signals. Messages over the bound are
	// dropped, and later read from the store. Signals over the bound do not wait.
	maxWaiting = 1024
)

// gap is the state of a topic while sequenced messages are missing.
type gap struct {
	top     int64        // the highest seq known to exist
	waiting []Message    // messages that arrived too early, ascending, all after topic.last
	signals []heldSignal // ascending by after
	due     wheel.Tick   // when to read from the store, unless the next message arrives before
	tries   int          // fetches in a row that failed or brought no next message
}

// heldSignal is a signal that waits for missing messages, because these existed before the signal arrived.
type heldSignal struct {
	after int64
	data  []byte
}

// keep adds a message that arrived before an earlier one. It does nothing if the message is present or there are
// maxWaiting earlier ones. If maxWaiting messages wait already, it drops the last of them.
func (g *gap) keep(m Message) {
	i, found := slices.BinarySearchFunc(g.waiting, m.Seq, func(w Message, seq int64) int {
		return cmp.Compare(w.Seq, seq)
	})
	if found || i == maxWaiting {
		return
	}
	if len(g.waiting) == maxWaiting {
		g.waiting = g.waiting[:maxWaiting-1]
	}
	g.waiting = slices.Insert(g.waiting, i, m)
}

// hold makes a signal wait for all messages that are known to exist. It returns false, and does not keep the signal, if
// maxWaiting signals wait already.
func (g *gap) hold(data []byte) bool {
	if len(g.signals) == maxWaiting {
		return false
	}
	g.signals = append(g.signals, heldSignal{after: g.top, data: data})
	return true
}

// release removes and returns the signals that need no message after seq last.
func (g *gap) release(last int64) []heldSignal {
	n := 0
	for n < len(g.signals) && g.signals[n].after <= last {
		n++
	}
	signals := g.signals[:n:n]
	g.signals = g.signals[n:]
	return signals
}

// backoff returns the wait before the next read from the store. The wait doubles with each read in a row that failed or brought
// no next message, up to maxRetry.
func (g *gap) backoff() time.Duration {
	wait := min(gapWait<<min(g.tries, 10), maxRetry)
	g.tries++
	return wait
}

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

	queue work.Queue[*topic]
}

// run repairs topics, one after another, until ctx is done.
func (r *repairer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.queue.Wake:
		}
		for _, t := range r.queue.Take(1) {
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
	if t.dead.Load() { // the topic was reset meanwhile
		fetched = nil
	}
	ready := t.accept(fetched[t.name]...)
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
