package web

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/chat"
)

// connectLimiter limits how many connect commands run concurrently, so that none takes too long when many clients
// reconnect at once. The others wait in a queue. While the queue is full, new sockets are refused before the upgrade.
// An idle socket takes no place in the limiter.
type connectLimiter struct {
	// static after newConnectLimiter
	slots   chan struct{} // holds one value for each running connect
	maxWait time.Duration // the queue is full when the expected wait reaches this

	waiting atomic.Int64 // connects that wait for a slot
	refused atomic.Int64 // sockets refused before the upgrade

	mu      sync.Mutex
	average time.Duration // guarded by mu; moving average of how long a connect takes
}

const (
	// connectSlots is more than each of the stores can work on concurrently.
	connectSlots = 32
	// maxConnectWait must be below 5 s, after which SDKs give up on a connect.
	maxConnectWait = 3 * time.Second
	// averageWeight is the weight of the moving average: the newest connect counts for 1/16.
	averageWeight = 16
)

func newConnectLimiter(slots int, maxWait time.Duration) *connectLimiter {
	return &connectLimiter{slots: make(chan struct{}, slots), maxWait: maxWait}
}

// acquire waits for a slot, for at most 4/3 of maxWait. The caller must call release when the connect has ended.
func (l *connectLimiter) acquire(ctx context.Context) (release func(), err error) {
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, l.maxWait+l.maxWait/3)
	defer cancel()
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("too many connects at once: %w", chat.ErrUnavailable)
	}
	began := time.Now()
	return func() {
		<-l.slots
		l.mu.Lock()
		defer l.mu.Unlock()
		l.average += (time.Since(began) - l.average) / averageWeight
	}, nil
}

// queued reports whether any connect waits for a slot.
func (l *connectLimiter) queued() bool { return l.waiting.Load() > 0 }

// full reports whether the queue is full. retry is the wait to tell a refused client: the expected wait with random
// jitter, so that refused clients do not all return together.
func (l *connectLimiter) full() (retry time.Duration, full bool) {
	waiting := l.waiting.Load()
	if waiting == 0 {
		return 0, false
	}
	l.mu.Lock()
	wait := time.Duration(waiting) * l.average / time.Duration(cap(l.slots))
	l.mu.Unlock()
	return wait + rand.N(wait+time.Second), wait > l.maxWait
}
