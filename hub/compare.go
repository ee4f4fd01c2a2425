package hub

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

// comparePart reads the last seqs of one page of topics from the store. It marks each topic that is behind the store as
// having a gap.
func (c *comparer) comparePart(ctx context.Context, topics []*topic) error {
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
	lasts, err := c.lastSeqs(ctx, names)
	if err != nil {
		return err
	}
	for _, t := range topics {
		t.mu.Lock()
		if last := lasts[t.name]; last > t.last && t.last != unsequenced && !t.dead.Load() {
			t.exists(last)
		}
		t.mu.Unlock()
	}
	return nil
}
