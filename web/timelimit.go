package web

import (
	"context"
	"sync"
	"time"
)

// timeLimit is a context whose timer is made when somebody waits for it. Most commands have begun their work by then, or are
// done, and the timer would cost as much as the work of those that are answered from memory.
type timeLimit struct {
	end time.Time

	mu   sync.Mutex
	made context.Context // guarded by mu; nil: nobody has waited
	stop func()          // guarded by mu; of made
	over bool            // guarded by mu; cancelled
}

// Deadline implements context.Context.
func (l *timeLimit) Deadline() (time.Time, bool) { return l.end, true }

// Done implements context.Context.
func (l *timeLimit) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.made != nil:
	case l.over:
		l.made, l.stop = context.WithCancel(context.Background())
		l.stop()
	default:
		l.made, l.stop = context.WithDeadline(context.Background(), l.end)
	}
	return l.made.Done()
}

// Err implements context.Context.
func (l *timeLimit) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.made != nil:
		return l.made.Err()
	case l.over:
		return context.Canceled
	case !time.Now().Before(l.end):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements context.Context. It has none but the made one's own, by which that is found and needs no goroutine to be
// watched.
func (l *timeLimit) Value(key any) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		return nil
	}
	return l.made.Value(key)
}

// cancel ends it.
func (l *timeLimit) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.stop != nil {
		l.stop()
	}
}
