package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// schedule sets the time at which each request is due. It does not depend on the answers to earlier requests.
type schedule struct {
	begin time.Time
	every time.Duration
	n     int
}

func newSchedule(begin time.Time, rate float64, duration time.Duration) schedule {
	return schedule{begin: begin, every: time.Duration(float64(time.Second) / rate), n: int(rate * duration.Seconds())}
}

func (s schedule) due(i int) time.Time { return s.begin.Add(time.Duration(i) * s.every) }

// pacers is the number of goroutines that share the schedule, so that a full socket delays only a part of it. The
// latency of a late request counts from its due time.
const pacers = 4

// follow calls send for each request when it is due.
func (s schedule) follow(ctx context.Context, send func(i int, due time.Time)) {
	var all sync.WaitGroup
	for first := range pacers {
		all.Go(func() {
			for i := first; i < s.n; i += pacers {
				due := s.due(i)
				if wait := time.Until(due); wait > 0 {
					pause(ctx, wait)
				}
				if ctx.Err() != nil {
					return
				}
				send(i, due)
			}
		})
	}
	all.Wait()
}

// closedLoop runs a number of lanes. Each lane calls send again when its last request is answered, until the duration
// is over or send returns false. send must call answered when its request is answered. closedLoop returns when the last request
// of each lane is answered, when ctx ends, or repeatTimeout after the duration.
func closedLoop(ctx context.Context, lanes int, duration time.Duration, send func(i int, due time.Time, answered func()) bool) {
	begin := time.Now()
	var next, busy atomic.Int64
	busy.Store(int64(lanes))
	over := make(chan struct{})
	done := func() {
		if busy.Add(-1) == 0 {
			close(over)
		}
	}
	var step func()
	step = func() {
		now := time.Now()
		if ctx.Err() != nil || now.Sub(begin) >= duration || !send(int(next.Add(1)-1), now, step) {
			done()
		}
	}
	for range lanes {
		step()
	}
	select {
	case <-over:
	case <-ctx.Done():
	case <-time.After(duration + repeatTimeout):
	}
}
