package pg

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
)

// TestBreakerProbesUntilBack trips a breaker. One probe must start at once, and then about one a second until a probe
// succeeds.
func TestBreakerProbesUntilBack(t *testing.T) {
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
		}, slog.New(slog.DiscardHandler))
		defer b.close()
		if err := b.err(); err != nil || b.await(t.Context()) != nil {
			t.Fatalf("new breaker: %v, want calls to pass", err)
		}
		cause := errors.New("connection refused")
		b.trip(cause)
		b.trip(errors.New("another's"))
		if err := b.err(); !errors.Is(err, chat.ErrUnavailable) || !errors.Is(err, cause) {
			t.Errorf("got %v, want unavailable with the cause", err)
		}
		time.Sleep(10 * time.Second) // in the time of the bubble
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
			t.Error("it still probes")
		}
	})
}

func TestBreakerEndsWithItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker(func(context.Context) error { return errors.New("down for ever") }, slog.New(slog.DiscardHandler))
		b.trip(errors.New("down"))
		waiting := make(chan error)
		go func() { waiting <- b.await(t.Context()) }()
		synctest.Wait()
		b.close()
		if err := <-waiting; err == nil {
			t.Error("await succeeded although Postgres is down")
		}
		b.trip(errors.New("after the end"))
	})
}

// TestSuspicionTripsOnlyAfterFailedProbe suspects Postgres. Calls must pass until a probe has failed.
func TestSuspicionTripsOnlyAfterFailedProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes, failures atomic.Int32
		var down atomic.Bool
		b := newBreaker(func(context.Context) error {
			probes.Add(1)
			time.Sleep(time.Second)
			if down.Load() {
				return errors.New("down")
			}
			return nil
		}, slog.New(slog.DiscardHandler))
		defer b.close()
		suspect := func() {
			t.Helper()
			for range 3 { // one probe decides for all suspicions
				b.suspect(errSlow, func() { failures.Add(1) })
			}
			synctest.Wait()
			if err := b.err(); err != nil {
				t.Errorf("tripped before the probe ended: %v", err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		suspect()
		if err := b.err(); err != nil || probes.Load() != 1 || failures.Load() != 0 {
			t.Errorf("%v after %d probes, %d failures", err, probes.Load(), failures.Load())
		}
		down.Store(true)
		suspect()
		if err := b.err(); !errors.Is(err, errSlow) || failures.Load() != 1 {
			t.Errorf("%v, %d failures, want an open breaker", err, failures.Load())
		}
		down.Store(false)
		if err := b.await(t.Context()); err != nil || b.err() != nil {
			t.Errorf("%v, %v", err, b.err())
		}
	})
}
