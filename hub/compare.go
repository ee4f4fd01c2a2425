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
		ahead, err = c.compareOnce(ctx, topicsOf(ahead))
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

func topicsOf(ahead []aheadTopic) []*topic {
	topics := make([]*topic, len(ahead))
	for i, a := range ahead {
		topics[i] = a.topic
	}
	return topics
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
