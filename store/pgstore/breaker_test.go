package pgstore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

// TestBreaker: one probe at once, then one about every second, until one succeeds.
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var probes []time.Duration
		probed := func() []time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(probes)
		}
		var back atomic.Bool
		began := time.Now()
		b := newBreaker(func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			probes = append(probes, time.Since(began))
			if back.Load() {
				return nil
			}
			return errors.New("still down")
		}, quiet)
		defer b.close()
		if err := b.err(); err != nil || b.await(t.Context()) != nil {
			t.Fatalf("closed from the start: %v", err)
		}
		cause := errors.New("connection refused")
		b.trip(cause)
		b.trip(errors.New("another's"))
		if err := b.err(); !errors.Is(err, chat.ErrUnavailable) || !errors.Is(err, cause) {
			t.Errorf("got %v, want unavailable that tells the cause", err)
		}
		time.Sleep(10 * time.Second) // of the bubble's own time
		if at := probed(); at[0] != 0 || len(at) < 8 || len(at) > 14 {
			t.Errorf("probes at %v", at)
		}
		back.Store(true)
		if err := b.await(t.Context()); err != nil || b.err() != nil {
			t.Errorf("awaited: %v, %v", err, b.err())
		}
		n := len(probed())
		time.Sleep(10 * time.Second)
		if len(probed()) != n {
			t.Error("it goes on probing")
		}
	})
}

func TestBreakerEndsWithItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(func(context.Context) error { return errors.New("down for ever") }, quiet)
		b.trip(errors.New("down"))
		waiting := make(chan error)
		go func() { waiting <- b.await(t.Context()) }()
		synctest.Wait()
		b.close()
		if err := <-waiting; err == nil {
			t.Error("awaited what never came")
		}
		b.trip(errors.New("after the end"))
	})
}
