package api

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/store/memstore"
)

// limiterFunc is a Limiter that calls a function of the test.
type limiterFunc func(ctx context.Context, key string) (time.Duration, error)

func (f limiterFunc) Take(ctx context.Context, key string, _ chat.Rate) (time.Duration, error) {
	return f(ctx, key)
}

// testRates returns the Rates of one of several instances. The given limiter is the shared one.
func testRates(shared chat.Limiter) *Rates {
	return NewRates(memstore.NewLimiter(memstore.LimiterOptions{}), shared, time.Now, slog.New(slog.DiscardHandler))
}

// userNamed returns a user of the host as a caller.
func userNamed(id string) Caller { return Caller{User: chat.User{ID: id}} }

// granted calls do until it is refused. It returns the number of successful calls, and the wait that the refusal names.
func granted(t *testing.T, do func() error) (times int, wait time.Duration) {
	t.Helper()
	for range 1000 {
		err := do()
		var refused *chat.RateError
		switch {
		case errors.As(err, &refused):
			return times, refused.After
		case err != nil:
			t.Fatal(err)
		}
		times++
	}
	return times, 0
}

func TestRatesOfAUser(t *testing.T) {
	for method, want := range map[string]struct {
		burst int
		every time.Duration
	}{"send": {20, 100 * time.Millisecond}, "edit": {20, 100 * time.Millisecond}, "react": {20, 100 * time.Millisecond}, "send_packet": {5, 500 * time.Millisecond}, "grab": {40, 50 * time.Millisecond}, "wallet": {250, 20 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			r := testRates(nil)
			spend := func() error { return r.spend(t.Context(), userNamed("ann"), method) }
			if n, wait := granted(t, spend); n != want.burst || wait != want.every {
				t.Errorf("%s: %d times, then wait %v", method, n, wait)
			}
			if err := r.spend(t.Context(), userNamed("bob"), method); err != nil {
				t.Errorf("%s: another user was refused: %v", method, err)
			}
			time.Sleep(3 * want.every)
			if n, _ := granted(t, spend); n != 3 && want.every > 0 {
				t.Errorf("%s: %d times after a pause for 3", method, n)
			}
		})
	}
	off := NewRates(nil, nil, time.Now, slog.New(slog.DiscardHandler))
	if n, _ := granted(t, func() error { return off.spend(t.Context(), userNamed("ann"), "send") }); n != 1000 {
		t.Errorf("turned off: %d times", n)
	}
}

// TestEditsCountAsSent sends, edits and reacts. All of these must count against the limit of send, on every instance.
func TestEditsCountAsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := memstore.NewLimiter(memstore.LimiterOptions{})
		a, b := testRates(shared), testRates(shared)
		for i, method := range []string{"send", "edit", "react", "send"} {
			if n, _ := granted(t, func() error { return a.spend(t.Context(), userNamed("ann"), method) }); n != max(20-20*i, 0) {
				t.Errorf("%s: %d times", method, n)
			}
		}
		for _, method := range []string{"react", "edit"} {
			if n, _ := granted(t, func() error { return b.spend(t.Context(), userNamed("ann"), method) }); n != 0 {
				t.Errorf("%s elsewhere: %d times", method, n)
			}
		}
	})
}

// TestPaceOverHTTP calls commands over HTTP. Each instance must limit a user as it limits a connection. Other users
// must not be limited.
func TestPaceOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRates(limiterFunc(func(context.Context, string) (time.Duration, error) {
			t.Error("asked the others")
			return 0, nil
		}))
		spend := func() error { return r.SpendHTTP(t.Context(), "ann") }
		if n, wait := granted(t, spend); n != 100 || wait != 20*time.Millisecond {
			t.Errorf("%d times, then wait %v", n, wait)
		}
		if err := r.SpendHTTP(t.Context(), "bob"); err != nil {
			t.Errorf("another user was refused: %v", err)
		}
		time.Sleep(time.Second)
		if n, _ := granted(t, spend); n != 50 {
			t.Errorf("%d times after a second", n)
		}
	})
	off := NewRates(nil, nil, time.Now, slog.New(slog.DiscardHandler))
	if n, _ := granted(t, func() error { return off.SpendHTTP(t.Context(), "ann") }); n != 1000 {
		t.Errorf("turned off: %d times", n)
	}
}

// TestRatesOverInstances calls commands on several instances that share a limiter. The limit must hold for all
// together. A refusal by the local limiter must not call the shared one.
func TestRatesOverInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		all := memstore.NewLimiter(memstore.LimiterOptions{})
		shared := limiterFunc(func(ctx context.Context, key string) (time.Duration, error) {
			asked++
			return all.Take(ctx, key, userRates["send"].rate)
		})
		a, b := testRates(shared), testRates(shared)
		n, _ := granted(t, func() error { return a.spend(t.Context(), userNamed("ann"), "send") })
		if asked != 20 {
			t.Errorf("asked %d times for %d", asked, n)
		}
		more, wait := granted(t, func() error { return b.spend(t.Context(), userNamed("ann"), "send") })
		if n != 20 || more != 0 || wait != 100*time.Millisecond {
			t.Errorf("%d here, %d there, then wait %v", n, more, wait)
		}
	})
}

// TestGrabsOverInstances counts the grabs that reach the Pool. One instance must allow as many as the protocol says.
// Each further instance must add its free part.
func TestGrabsOverInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		all := memstore.NewLimiter(memstore.LimiterOptions{})
		shared := limiterFunc(func(ctx context.Context, key string) (time.Duration, error) {
			asked++
			return all.Take(ctx, key, sharedGrabs)
		})
		a, b := testRates(shared), testRates(shared)
		toPool := func(r *Rates) func() error { return func() error { return r.admitGrab(t.Context(), "ann") } }
		for user := range 100 {
			err := errors.Join(a.spend(t.Context(), userNamed(strconv.Itoa(user)), "grab"), a.admitGrab(t.Context(), strconv.Itoa(user)))
			if err != nil || asked > 0 {
				t.Fatalf("a crowd that grabs once each: asked %d times, %v", asked, err)
			}
		}
		if n, _ := granted(t, toPool(a)); n != 40 {
			t.Errorf("%d grabs on one instance", n)
		}
		if n, _ := granted(t, toPool(b)); n != 10 {
			t.Errorf("%d more on the other", n)
		}
		time.Sleep(time.Second + time.Millisecond) // a fraction of a token is rounded up
		if n, _ := granted(t, toPool(a)); n != 20 {
			t.Errorf("%d grabs in a second", n)
		}
	})
	alone := testRates(nil)
	if n, _ := granted(t, func() error { return alone.admitGrab(t.Context(), "ann") }); n != 1000 {
		t.Errorf("alone, where all grabs have been counted: %d", n)
	}
}

// TestRatesWithoutTheOthers has a shared limiter that fails or hangs. No call may be refused, and only the first may be
// delayed.
func TestRatesWithoutTheOthers(t *testing.T) {
	for name, broken := range map[string]limiterFunc{
		"fails": func(context.Context, string) (time.Duration, error) { return 0, errors.New("no answer") },
		"hangs": func(ctx context.Context, _ string) (time.Duration, error) { <-ctx.Done(); return 0, ctx.Err() },
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			r := testRates(limiterFunc(func(ctx context.Context, key string) (time.Duration, error) {
				asked++
				return broken(ctx, key)
			}))
			began := time.Now()
			if n, _ := granted(t, func() error { return r.spend(t.Context(), userNamed("ann"), "send") }); n != 20 && n != 21 {
				t.Errorf("%s: %d times", name, n)
			}
			if took := time.Since(began); asked != 1 || took > sharedTimeout {
				t.Errorf("%s: asked %d times, %v", name, asked, took)
			}
			time.Sleep(2 * sharedPause)
			if err := r.spend(t.Context(), userNamed("ann"), "send"); err != nil || asked != 2 {
				t.Errorf("%s: later asked %d times, %v", name, asked, err)
			}
		})
	}
	r := testRates(limiterFunc(func(ctx context.Context, _ string) (time.Duration, error) { return 0, ctx.Err() }))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.spend(gone, userNamed("ann"), "send"); !errors.Is(err, context.Canceled) || r.pausedUntil.Load() != 0 {
		t.Errorf("a caller that has gone: %v, and the limiter is paused until %d", err, r.pausedUntil.Load())
	}
}
