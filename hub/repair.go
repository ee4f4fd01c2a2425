package hub

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
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
	// dropped, and later read from the store.
	maxWaiting = 1024
)

// gap is the state of a topic while sequenced messages are missing.
type gap struct {
	top     int64        // the highest seq known to exist
	waiting []Message    // messages that arrived too early, ascending, all after topic.last
	signals []heldSignal // ascending by after
	due     wheel.Tick   // when to read from the store, unless messages arrive before
	tries   int          // failed fetches in a row
}

// heldSignal is a signal that waits for missing messages, because they were published before the signal.
type heldSignal struct {
	after int64
	data  []byte
}

// keep adds a message that arrived before an earlier one. It does nothing if the message is present or there are
// maxWaiting earlier ones.
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

// backoff returns the wait before the next read from the store. The wait doubles with each failure in a row, up to
// maxRetry.
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

const (
	// compareEvery is how often every sequenced topic is compared with the store, in case of losses that nothing else
	// has revealed.
	compareEvery = time.Minute
	// compareDownEvery replaces compareEvery while the bus is down.
	compareDownEvery = 1500 * time.Millisecond
	// compareUpFor is how long compareDownEvery applies after the bus is up again. Another instance may find it some
	// seconds later, and until then nothing on the bus tells of the messages published there.
	compareUpFor = 5 * time.Second
	// comparePage is the largest number of topics that one query to the store names.
	comparePage = 500
)

// comparer compares the last seq of each topic with the store, to find lost messages that no later message has
// revealed.
type comparer struct {
	// static
	topics   *registry
	lastSeqs func(ctx context.Context, topics []string) (map[string]int64, error)
	wentBack func(topic string, had, has int64) // may be nil
	log      *slog.Logger

	queue work.Queue[*topic]
	all   atomic.Bool  // the next comparison is of every topic
	often atomic.Int64 // compareDownEvery applies until this time, in Unix nanoseconds
}

// compareAll requests a comparison of every topic. It does not wait for it.
func (c *comparer) compareAll() {
	c.all.Store(true)
	c.queue.Ring()
}

// busUp requests a comparison of every topic, and more of them for compareUpFor.
func (c *comparer) busUp() {
	c.often.Store(time.Now().Add(compareUpFor).UnixNano())
	c.compareAll()
}

// run compares until ctx is done.
func (c *comparer) run(ctx context.Context) {
	ticker := time.NewTicker(compareEvery)
	defer ticker.Stop()
	down := time.NewTicker(compareDownEvery)
	defer down.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.compareAll()
		case <-down.C:
			if c.topics.env.busDown.Load() || time.Now().UnixNano() < c.often.Load() {
				c.compareAll()
			}
		case <-c.queue.Wake:
			topics := c.queue.Take(comparePage)
			if c.all.Swap(false) {
				topics = c.topics.all()
			}
			c.compare(ctx, topics)
		}
	}
}

// compare compares the topics with the store. It retries until that succeeds or ctx is done.
func (c *comparer) compare(ctx context.Context, topics []*topic) {
	wait := gapWait
	for len(topics) > 0 {
		n := min(len(topics), comparePage)
		err := c.comparePart(ctx, topics[:n])
		if err == nil {
			topics, wait = topics[n:], gapWait
			continue
		}
		c.log.Warn("topics not compared", "count", len(topics), "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			wait = min(2*wait, maxRetry)
		}
	}
}

// comparePart compares one page of topics with the store. It marks each topic that is behind the store as having a gap.
// If the store is behind a topic, it has lost messages that this hub has delivered. That is believed when a second
// comparison shows it, too.
func (c *comparer) comparePart(ctx context.Context, topics []*topic) error {
	ahead, err := c.compareOnce(ctx, topics)
	if err == nil && len(ahead) > 0 {
		topics = topics[:0:0]
		for _, a := range ahead {
			topics = append(topics, a.topic)
		}
		ahead, err = c.compareOnce(ctx, topics)
	}
	if err != nil {
		return err
	}
	for _, a := range ahead {
		c.log.Error("the store has lost messages that were delivered: connections closed", "topic", a.topic.name, "delivered", a.had, "stored", a.has)
		a.topic.reset()
		if c.wentBack != nil {
			c.wentBack(a.topic.name, a.had, a.has)
		}
	}
	return nil
}

// aheadTopic is a topic that has delivered messages which the store does not have.
type aheadTopic struct {
	topic    *topic
	had, has int64 // last seq of the topic, and of the store
}

// compareOnce reads the last seqs of the topics from the store. Each topic that is behind the store gets a gap. It
// returns the topics that are ahead of the store. What a topic delivers during the read does not count: it may be
// committed after the read.
func (c *comparer) compareOnce(ctx context.Context, topics []*topic) (ahead []aheadTopic, err error) {
	names, delivered := make([]string, 0, len(topics)), make([]int64, len(topics))
	for i, t := range topics {
		t.mu.Lock()
		if delivered[i] = t.last; t.last != unsequenced && !t.dead.Load() {
			names = append(names, t.name)
		}
		t.mu.Unlock()
	}
	if len(names) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	lasts, err := c.lastSeqs(ctx, names)
	if err != nil {
		return nil, err
	}
	for i, t := range topics {
		last := lasts[t.name]
		t.mu.Lock()
		switch {
		case delivered[i] == unsequenced || t.dead.Load():
		case last < delivered[i]:
			ahead = append(ahead, aheadTopic{t, delivered[i], last})
		case last > t.last:
			t.exists(last)
		}
		t.mu.Unlock()
	}
	return ahead, nil
}
