package measure

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Crowd is a number of callers that call repeatedly until the budget is used up, or no work is left.
type Crowd struct {
	Callers int
	Budget  time.Duration
}

// Call lets each caller call do, with unique numbers from 0, until do says that no work is left. It counts the calls that did
// something, and ends at the first error.
func (c Crowd) Call(ctx context.Context, do func(ctx context.Context, i int) (more bool, err error)) (Round, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next, done atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	for range c.Callers {
		all.Go(func() {
			var mine int64
			defer func() { done.Add(mine) }()
			for ctx.Err() == nil && time.Since(begin) < c.Budget {
				more, err := do(ctx, int(next.Add(1)-1))
				if err != nil {
					stop(err)
				}
				if err != nil || !more {
					return
				}
				mine++
			}
		})
	}
	all.Wait()
	r := Round{Done: int(done.Load()), Took: time.Since(begin)}
	return r, context.Cause(ctx)
}
