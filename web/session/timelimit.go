package session

import (
	"context"
	"sync"
	"time"
)

// timeLimit is a context with a deadline. Its timer is created by the first call of Done. Most commands never call
// Done, and a timer would cost as much as an answer from memory.
type timeLimit struct {
	end time.Time

	mu   sync.Mutex
	made context.Context // guarded by mu; context with a timer; nil: Done was not called
	stop func()          // guarded by mu; cancels made
	done bool            // guarded by mu; cancel was called
}

// Deadline implements context.Context.
func (l *timeLimit) Deadline() (time.Time, bool) { return l.end, true }

// Done implements context.Context.
func (l *timeLimit) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.made != nil:
	case l.done:
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
	case l.done:
		return context.Canceled
	case !time.Now().Before(l.end):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements context.Context. It passes keys on to the context that Done has created. Package context thus
// recognises that one as cancellable, so that derived contexts need no goroutine.
func (l *timeLimit) Value(key any) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made == nil {
		return nil
	}
	return l.made.Value(key)
}

// cancel ends the context and stops its timer.
func (l *timeLimit) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	if l.stop != nil {
		l.stop()
	}
}
