// Package compare compares the last seqs of a hub's topics with the store. It finds messages that were lost on the bus and
// whose loss no later message has revealed. It also notices when the store has lost messages that were delivered.
//
// Invariants: a topic is reset only if two comparisons in a row show that it is ahead of the store. Each comparison counts only
// messages that were delivered before it began. All comparisons run on the goroutine of Run, which may block on the store. No
// lock of a topic is held meanwhile.
package compare

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"hongbao/hub/internal/work"
)

const (
	// compareEvery is how often every sequenced topic is compared with the store, in case of losses that nothing else
	// has revealed.
	compareEvery = time.Minute
	// compareDownEvery replaces compareEvery while the bus is down.
	compareDownEvery = 1500 * time.Millisecond
	// compareUpFor is how long compareDownEvery applies after the bus is up again. Another instance may reconnect to the bus
	// some seconds later, and until then its messages do not arrive.
	compareUpFor = 5 * time.Second
	// comparePage is the largest number of topics that one query to the store names.
	comparePage = 500
	// firstRetry and maxRetry are the shortest and the longest wait between two failed reads from the store.
	firstRetry, maxRetry = 100 * time.Millisecond, 5 * time.Second
	// storeTimeout bounds one call to the store.
	storeTimeout = 5 * time.Second
)

// Topic is a topic of the hub. Its methods do not block.
type Topic interface {
	Name() string
	// Last returns the last seq delivered. ok is false if the topic's messages have no seq, or if it has ended.
	Last() (seq int64, ok bool)
	// Learn says that the store has messages up to the seq, some of which may be missing here.
	Learn(seq int64)
	// Reset closes the connections of the topic and forgets its position.
	Reset()
}

// Options configures a Comparer. WentBack may be nil: see hub.Options.
type Options[T Topic] struct {
	All      func() []T
	LastSeqs func(ctx context.Context, topics []string) (map[string]int64, error)
	WentBack func(topic string, had, has int64)
	BusDown  func() bool
	Log      *slog.Logger
}

// Comparer compares topics with the store.
type Comparer[T Topic] struct {
	// static after New
	o Options[T]

	queue work.Queue[T]
	all   atomic.Bool  // the next comparison is of every topic
	often atomic.Int64 // compareDownEvery applies until this time, in Unix nanoseconds
}

// New returns a comparer that is not running yet.
func New[T Topic](o Options[T]) *Comparer[T] {
	return &Comparer[T]{o: o, queue: work.NewQueue[T]()}
}

// Add requests a comparison of one topic. It does not wait for the comparison.
func (c *Comparer[T]) Add(t T) { c.queue.Add(t) }

// CompareAll requests a comparison of every topic. It does not wait for the comparison.
func (c *Comparer[T]) CompareAll() {
	c.all.Store(true)
	c.queue.Ring()
}

// BusUp requests a comparison of every topic at once, and further ones every compareDownEvery for compareUpFor.
func (c *Comparer[T]) BusUp() {
	c.often.Store(time.Now().Add(compareUpFor).UnixNano())
	c.CompareAll()
}

// Run compares until ctx is done.
func (c *Comparer[T]) Run(ctx context.Context) {
	ticker := time.NewTicker(compareEvery)
	defer ticker.Stop()
	down := time.NewTicker(compareDownEvery)
	defer down.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.CompareAll()
		case <-down.C:
			if c.o.BusDown() || time.Now().UnixNano() < c.often.Load() {
				c.CompareAll()
			}
		case <-c.queue.Wake:
			topics := c.queue.Take(comparePage)
			if c.all.Swap(false) {
				topics = c.o.All()
			}
			c.compare(ctx, topics)
		}
	}
}

// compare compares the topics with the store. It retries until that succeeds or ctx is done.
func (c *Comparer[T]) compare(ctx context.Context, topics []T) {
	wait := firstRetry
	for len(topics) > 0 {
		n := min(len(topics), comparePage)
		err := c.comparePart(ctx, topics[:n])
		if err == nil {
			topics, wait = topics[n:], firstRetry
			continue
		}
		c.o.Log.Warn("topics not compared", "count", len(topics), "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
			wait = min(2*wait, maxRetry)
		}
	}
}

// comparePart compares one page of topics with the store. It marks each topic that is behind the store as having a gap.
// If the store is behind a topic in two comparisons in a row, the store has lost messages that this hub has delivered.
// comparePart then resets the topic.
func (c *Comparer[T]) comparePart(ctx context.Context, topics []T) error {
	further, err := c.compareWithStore(ctx, topics)
	if err == nil && len(further) > 0 {
		further, err = c.compareWithStore(ctx, topicsOf(further))
	}
	if err != nil {
		return err
	}
	for _, a := range further {
		c.o.Log.Error("the store has lost messages that were delivered: connections closed", "topic", a.topic.Name(), "delivered", a.had, "stored", a.has)
		a.topic.Reset()
		if c.o.WentBack != nil {
			c.o.WentBack(a.topic.Name(), a.had, a.has)
		}
	}
	return nil
}

// ahead is a topic that has delivered messages which the store does not have.
type ahead[T Topic] struct {
	topic    T
	had, has int64 // last seq of the topic, and of the store
}

func topicsOf[T Topic](list []ahead[T]) []T {
	topics := make([]T, len(list))
	for i, a := range list {
		topics[i] = a.topic
	}
	return topics
}

// compareWithStore reads the last seqs of the topics from the store. It calls Learn for each topic that is not ahead of the store, and
// returns the topics that are ahead. Messages that a topic delivers during the read do not count, because they may have been
// committed after the read.
func (c *Comparer[T]) compareWithStore(ctx context.Context, topics []T) (further []ahead[T], err error) {
	names, delivered := make([]string, 0, len(topics)), make(map[string]int64, len(topics))
	for _, t := range topics {
		if last, ok := t.Last(); ok {
			names = append(names, t.Name())
			delivered[t.Name()] = last
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	lasts, err := c.o.LastSeqs(ctx, names)
	if err != nil {
		return nil, err
	}
	for _, t := range topics {
		had, compared := delivered[t.Name()]
		_, alive := t.Last()
		switch has := lasts[t.Name()]; {
		case !compared || !alive:
		case has < had:
			further = append(further, ahead[T]{t, had, has})
		default:
			t.Learn(has)
		}
	}
	return further, nil
}
