package session

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTimeLimit checks that a timeLimit behaves like any other context, whether Done is called before or after its end.
func TestTimeLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		early  bool // Done is called at the start
		cancel bool // cancel is called before the deadline
		want   error
	}{
		{"expires without a waiter", false, false, context.DeadlineExceeded},
		{"expires with a waiter", true, false, context.DeadlineExceeded},
		{"cancelled without a waiter", false, true, context.Canceled},
		{"cancelled with a waiter", true, true, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &timeLimit{end: time.Now().Add(time.Second)}
				if end, ok := l.Deadline(); !ok || !end.Equal(l.end) || l.Err() != nil || l.Value(t) != nil {
					t.Errorf("ends %v, %v: %v", end, ok, l.Err())
				}
				child, stop := context.Background(), func() {}
				if c.early {
					child, stop = context.WithCancel(l)
					select {
					case <-child.Done():
						t.Error("done before its deadline")
					default:
					}
				}
				defer stop()
				if c.cancel {
					l.cancel()
				}
				time.Sleep(2 * time.Second)
				<-l.Done()
				if !errors.Is(l.Err(), c.want) {
					t.Errorf("ended with %v, want %v", l.Err(), c.want)
				}
				if c.early && !errors.Is(child.Err(), c.want) {
					t.Errorf("identity waited for it ended with %v", child.Err())
				}
				l.cancel()
			})
		})
	}
}
