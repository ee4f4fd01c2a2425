package web

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTimeLimit is a context like any other, whether somebody waits for it before it is over or after.
func TestTimeLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		early  bool // somebody waits from the beginning
		cancel bool // it is cancelled before its time
		want   error
	}{
		{"ends, nobody waits", false, false, context.DeadlineExceeded},
		{"ends, somebody waits", true, false, context.DeadlineExceeded},
		{"is cancelled, nobody waits", false, true, context.Canceled},
		{"is cancelled, somebody waits", true, true, context.Canceled},
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
						t.Error("over before its time")
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
					t.Errorf("who waited for it ended with %v", child.Err())
				}
				l.cancel()
			})
		})
	}
}
