package redpacket

import (
	"context"
	"sync"
	"time"

	"hongbao/chat"
)

// buckets is the chat.Limiter of a service that is alone. A bucket is the time when it is full again; one that is full
// is not kept.
type buckets struct {
	now func() time.Time

	mu    sync.Mutex
	full  map[string]time.Time // guarded by mu
	sweep time.Time            // guarded by mu; when to drop full buckets next
}

const sweepBuckets = 10 * time.Second

func newBuckets(now func() time.Time) *buckets {
	return &buckets{now: now, full: map[string]time.Time{}, sweep: now().Add(sweepBuckets)}
}

// Take implements chat.Limiter.
func (b *buckets) Take(_ context.Context, key string, r chat.Rate) (time.Duration, error) {
	every := time.Duration(float64(time.Second) / r.PerSecond)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.dropFull(now)
	full := b.full[key]
	if full.Before(now) {
		full = now
	}
	full = full.Add(every)
	if wait := full.Sub(now) - every*time.Duration(r.Burst); wait > 0 {
		return wait, nil
	}
	b.full[key] = full
	return 0, nil
}

func (b *buckets) dropFull(now time.Time) {
	if now.Before(b.sweep) {
		return
	}
	b.sweep = now.Add(sweepBuckets)
	for key, full := range b.full {
		if !full.After(now) {
			delete(b.full, key)
		}
	}
}
