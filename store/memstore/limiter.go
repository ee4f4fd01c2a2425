package memstore

import (
	"context"
	"math"
	"sync"
	"time"

	"hongbao/chat"
)

const (
	// sweepEvery is how often a Limiter that is in use drops full buckets.
	sweepEvery = 10 * time.Second
	// maxBuckets is the most buckets kept, about 10 MB. There is a bound because clients choose some of the keys. When it
	// is reached, each new bucket replaces an arbitrary other one, which then counts as full.
	maxBuckets = 1 << 17
)

// LimiterOptions are the options of a Limiter.
type LimiterOptions struct {
	Now func() time.Time // the Limiter's clock; default time.Now
}

// Limiter implements chat.Limiter in memory. A bucket is stored as one number: when it will be full again, in
// microseconds since the start (the "generic cell rate algorithm"). Full buckets are dropped.
type Limiter struct {
	// immutable after NewLimiter
	now   func() time.Time
	start time.Time

	mu    sync.Mutex
	full  map[string]int64
	sweep int64 // time of the next sweep
}

var _ chat.Limiter = (*Limiter)(nil)

// NewLimiter returns a limiter whose buckets are all full.
func NewLimiter(o LimiterOptions) *Limiter {
	l := &Limiter{now: time.Now, full: map[string]int64{}}
	if o.Now != nil {
		l.now = o.Now
	}
	l.start = l.now()
	return l
}

// Take implements chat.Limiter. The Lua script of redisstore calculates in the same way.
func (l *Limiter) Take(_ context.Context, key string, r chat.Rate) (time.Duration, error) {
	every := tokenEvery(r)
	cost, depth := every*int64(r.Tokens()), every*int64(r.Burst)

	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now().Sub(l.start).Microseconds()
	l.dropFull(now)
	full := max(l.full[key], now)
	if full > now+depth { // emptier than an empty bucket: written with another rate
		full = now + depth
		l.full[key] = full
	}
	if wait := full + cost - depth - now; wait > 0 {
		return time.Duration(wait) * time.Microsecond, nil
	}
	l.makeRoom(key)
	l.full[key] = full + cost
	return 0, nil
}

// makeRoom drops an arbitrary bucket if the key has none and maxBuckets is reached.
func (l *Limiter) makeRoom(key string) {
	if len(l.full) < maxBuckets {
		return
	}
	if _, has := l.full[key]; has {
		return
	}
	for other := range l.full {
		delete(l.full, other)
		return
	}
}

// dropFull copies the buckets that are not full to a new map every sweepEvery, so that the memory of a large map is
// freed.
func (l *Limiter) dropFull(now int64) {
	if now < l.sweep {
		return
	}
	l.sweep = now + sweepEvery.Microseconds()
	kept := map[string]int64{}
	for key, full := range l.full {
		if full > now {
			kept[key] = full
		}
	}
	l.full = kept
}

// tokenEvery returns the time between two tokens in microseconds, rounded up so that the rate is never exceeded. A rate
// below one token a day, even zero, gives one token a day.
func tokenEvery(r chat.Rate) int64 {
	return int64(math.Ceil(min(1e6/r.PerSecond, 86_400e6)))
}
