package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// schedule says when each request of a run is due, whatever became of those before it.
type schedule struct {
	begin time.Time
	every time.Duration
	n     int
}

func newSchedule(begin time.Time, rate float64, duration time.Duration) schedule {
	return schedule{begin: begin, every: time.Duration(float64(time.Second) / rate), n: int(rate * duration.Seconds())}
}

func (s schedule) due(i int) time.Time { return s.begin.Add(time.Duration(i) * s.every) }

// pacers share the schedule: one who is held up by a full socket holds up a part of it only. What is late then is
// measured from when it was due.
const pacers = 4

// follow calls say for each request when it is due.
func (s schedule) follow(ctx context.Context, say func(i int, due time.Time)) {
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
				say(i, due)
			}
		})
	}
	all.Wait()
}

// chase is the closed loop: so many at a time, the next when one is answered, for as long as it lasts or there is something
// to say. say tells whether there was, and calls back when that is answered. It returns when the last is said.
func chase(ctx context.Context, lanes int, duration time.Duration, say func(i int, due time.Time, answered func()) bool) {
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
		if ctx.Err() != nil || now.Sub(begin) >= duration || !say(int(next.Add(1)-1), now, step) {
			done()
		}
	}
	for range lanes {
		step()
	}
	select {
	case <-over:
	case <-ctx.Done():
	case <-time.After(duration + patience):
	}
}
