package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/store/memstore"
	"hongbao/web/wire"
)

// limiterFunc is a limiter that does what a test wants.
type limiterFunc func(ctx context.Context, key string) (time.Duration, error)

func (f limiterFunc) Take(ctx context.Context, key string, _ chat.Rate) (time.Duration, error) {
	return f(ctx, key)
}

// testRates are those of one instance beside others.
func testRates(shared chat.Limiter) *rates {
	return newRates(Options{Rates: true, Local: memstore.NewLimiter(memstore.LimiterOptions{}), Limiter: shared, Now: time.Now})
}

// granted is how often something may be done before it is refused, and for how long then.
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
	}{"send": {20, 100 * time.Millisecond}, "edit": {20, 100 * time.Millisecond}, "react": {20, 100 * time.Millisecond}, "send_packet": {5, 500 * time.Millisecond}, "grab": {40, 50 * time.Millisecond}, "wallet": {1000, 0}} {
		synctest.Test(t, func(t *testing.T) {
			r := testRates(nil)
			spend := func() error { return r.spend(t.Context(), "ann", method) }
			if n, wait := granted(t, spend); n != want.burst || wait != want.every {
				t.Errorf("%s: %d times, then wait %v", method, n, wait)
			}
			if err := r.spend(t.Context(), "bob", method); err != nil {
				t.Errorf("%s: another one was refused: %v", method, err)
			}
			time.Sleep(3 * want.every)
			if n, _ := granted(t, spend); n != 3 && want.every > 0 {
				t.Errorf("%s: %d times after a pause for 3", method, n)
			}
		})
	}
	off := newRates(Options{Now: time.Now})
	if n, _ := granted(t, func() error { return off.spend(t.Context(), "ann", "send") }); n != 1000 {
		t.Errorf("turned off: %d times", n)
	}
}

// To send, edit and react is one thing: what is spent on one is gone for the others, everywhere.
func TestEditsCountAsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := memstore.NewLimiter(memstore.LimiterOptions{})
		a, b := testRates(shared), testRates(shared)
		for i, method := range []string{"send", "edit", "react", "send"} {
			if n, _ := granted(t, func() error { return a.spend(t.Context(), "ann", method) }); n != max(20-20*i, 0) {
				t.Errorf("%s: %d times", method, n)
			}
		}
		for _, method := range []string{"react", "edit"} {
			if n, _ := granted(t, func() error { return b.spend(t.Context(), "ann", method) }); n != 0 {
				t.Errorf("%s elsewhere: %d times", method, n)
			}
		}
	})
}

// Who calls over HTTP has the pace of a connection, on each instance: others do not wait for him.
func TestPaceOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := testRates(limiterFunc(func(context.Context, string) (time.Duration, error) {
			t.Error("asked the others")
			return 0, nil
		}))
		spend := func() error { return r.spendHTTP(t.Context(), "ann") }
		if n, wait := granted(t, spend); n != 100 || wait != 20*time.Millisecond {
			t.Errorf("%d times, then wait %v", n, wait)
		}
		if err := r.spendHTTP(t.Context(), "bob"); err != nil {
			t.Errorf("another one was refused: %v", err)
		}
		time.Sleep(time.Second)
		if n, _ := granted(t, spend); n != 50 {
			t.Errorf("%d times after a second", n)
		}
	})
	off := newRates(Options{Now: time.Now})
	if n, _ := granted(t, func() error { return off.spendHTTP(t.Context(), "ann") }); n != 1000 {
		t.Errorf("turned off: %d times", n)
	}
}

// Rates hold over all instances, and who is refused here is not asked about elsewhere.
func TestRatesOverInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		all := memstore.NewLimiter(memstore.LimiterOptions{})
		shared := limiterFunc(func(ctx context.Context, key string) (time.Duration, error) {
			asked++
			return all.Take(ctx, key, userRates["send"])
		})
		a, b := testRates(shared), testRates(shared)
		n, _ := granted(t, func() error { return a.spend(t.Context(), "ann", "send") })
		if asked != 20 {
			t.Errorf("asked %d times for %d", asked, n)
		}
		more, wait := granted(t, func() error { return b.spend(t.Context(), "ann", "send") })
		if n != 20 || more != 0 || wait != 100*time.Millisecond {
			t.Errorf("%d here, %d there, then wait %v", n, more, wait)
		}
	})
}

// One instance lets as many grabs through to the Pool as the protocol says; each further one its free part more.
func TestGrabsOverInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		all := memstore.NewLimiter(memstore.LimiterOptions{})
		shared := limiterFunc(func(ctx context.Context, key string) (time.Duration, error) {
			asked++
			return all.Take(ctx, key, sharedGrabs)
		})
		a, b := testRates(shared), testRates(shared)
		toPool := func(r *rates) func() error { return func() error { return r.admitGrab(t.Context(), "ann") } }
		for user := range 100 {
			err := errors.Join(a.spend(t.Context(), strconv.Itoa(user), "grab"), a.admitGrab(t.Context(), strconv.Itoa(user)))
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
		time.Sleep(time.Second + time.Millisecond) // a third of a token is rounded up
		if n, _ := granted(t, toPool(a)); n != 20 {
			t.Errorf("%d grabs in a second", n)
		}
	})
	alone := testRates(nil)
	if n, _ := granted(t, func() error { return alone.admitGrab(t.Context(), "ann") }); n != 1000 {
		t.Errorf("alone, where all grabs have been counted: %d", n)
	}
}

// A shared limiter that fails or hangs refuses nobody, and holds up only whoever comes first.
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
			if n, _ := granted(t, func() error { return r.spend(t.Context(), "ann", "send") }); n != 20 && n != 21 {
				t.Errorf("%s: %d times", name, n)
			}
			if took := time.Since(began); asked != 1 || took > sharedTime {
				t.Errorf("%s: asked %d times, %v", name, asked, took)
			}
			time.Sleep(2 * sharedRest)
			if err := r.spend(t.Context(), "ann", "send"); err != nil || asked != 2 {
				t.Errorf("%s: later asked %d times, %v", name, asked, err)
			}
		})
	}
	r := testRates(limiterFunc(func(ctx context.Context, _ string) (time.Duration, error) { return 0, ctx.Err() }))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.spend(gone, "ann", "send"); !errors.Is(err, context.Canceled) || r.rest.Load() != 0 {
		t.Errorf("one who had gone: %v, and the limiter rests until %d", err, r.rest.Load())
	}
}

func TestPaceOfAConnection(t *testing.T) {
	var c rateState
	now := time.Minute
	take := func(most int) (passed int, wait time.Duration, abuse bool) {
		for range most {
			if wait, abuse = c.take(now); wait > 0 {
				return passed, wait, abuse
			}
			passed++
		}
		return passed, 0, false
	}
	if n, wait, abuse := take(1000); n != 100 || wait != 20*time.Millisecond || abuse {
		t.Errorf("%d commands at once, then wait %v, abuse %t", n, wait, abuse)
	}
	now += time.Second
	if n, _, _ := take(1000); n != 50 {
		t.Errorf("%d commands after a second", n)
	}
	for i := 3; i < 200; i++ { // two were refused above
		if _, abuse := c.take(now); abuse {
			t.Fatalf("refused %d times: abuse", i)
		}
	}
	now += 2*time.Second - 20*time.Millisecond // not quite full
	if n, _, abuse := take(1000); n != 99 || !abuse {
		t.Errorf("%d commands after too short a pause, abuse %t", n, abuse)
	}
	now += 2 * time.Second
	if n, _, abuse := take(1000); n != 100 || abuse {
		t.Errorf("%d commands after a pause, abuse %t", n, abuse)
	}
}

// limited turns rates on for servers that share a limiter.
func limited() func(*Options) {
	shared := memstore.NewLimiter(memstore.LimiterOptions{})
	return func(o *Options) {
		o.Rates, o.Local, o.Limiter = true, memstore.NewLimiter(memstore.LimiterOptions{}), shared
	}
}

// A user has one rate, wherever and however he sends; he hears how long to wait, and it is true.
func TestRateLimitedCommands(t *testing.T) {
	a, b := pair(t, limited())
	room := a.room(t, a.signIn(t, "ann", 0), "hall").ID
	h, token := b.Handler(), goodToken(t, "ann")
	began := time.Now()
	var sent int
	for id := range 60 {
		request := wire.SendRequest{Room: room, Key: strconv.Itoa(id), Text: "x"}
		if id%2 == 0 {
			if _, err := a.Call(t.Context(), Caller{User: chat.User{ID: "ann"}}, "send", encoded(t, request)); err == nil {
				sent++
			} else if failure := a.failure(err); failure.Code != wire.CodeRateLimited || !failure.Temporary {
				t.Fatal(err)
			}
			continue
		}
		r := ask(t, h, "POST", "/v1/commands/send", token, string(encoded(t, request)))
		if r.StatusCode == 200 {
			sent++
			continue
		}
		refused := mustAnswer[wire.ErrorBody](t, r, 429)
		text, ok := strings.CutPrefix(refused.Error.Message, "rate_limited retry_after_ms=")
		ms, err := strconv.Atoi(text)
		if !ok || err != nil || ms < 1 || ms > 100 || refused.Error.Code != wire.CodeRateLimited || !refused.Error.Temporary || r.Header.Get("Retry-After") != "1" {
			t.Fatalf("refused with %+v, Retry-After %q", refused.Error, r.Header.Get("Retry-After"))
		}
	}
	if most := 21 + int(10*time.Since(began).Seconds()); sent < 20 || sent > most {
		t.Errorf("%d sent, want 20 to %d", sent, most)
	}
	for at := 0; ; at++ { // who waits as told is let in
		_, err := a.Call(t.Context(), Caller{User: chat.User{ID: "ann"}}, "send", encoded(t, wire.SendRequest{Room: room, Key: "again", Text: "x"}))
		var refused *chat.RateError
		if !errors.As(err, &refused) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if at == 2 { // the first may be of this instance's bucket, the second of the common one
			t.Fatalf("told to wait %v after having waited", refused.After)
		}
		time.Sleep(refused.After)
	}
}

// A connection that floods is told so, and closed when it goes on; others are not.
func TestTooManyCommands(t *testing.T) {
	s := newTestServer(t, limited())
	addr := s.listen(t)
	for _, e := range []wire.Encoding{wire.JSON, wire.Protobuf} {
		c, _ := connected(t, addr, e, "ann")
		other, _ := connected(t, addr, e, "ann")
		id := 1
		flood := func(n int) {
			var frame []string
			for range n {
				id++
				frame = append(frame, fmt.Sprintf(`{"id":%d,"rpc":{"method":"nothing"}}`, id))
			}
			c.send(frame...)
		}
		refused := 0
		for refused == 0 && id < 1000 {
			flood(25)
			for range 25 {
				if r := c.next(); r.Error == nil || r.Error.Code == uint32(wire.CodeRateLimited) {
					mustFail(t, r, wire.CodeRateLimited)
					refused++
				}
			}
		}
		if refused == 0 {
			t.Fatal("nothing was refused")
		}
		for range 8 { // 200 are too many, and some more of them pass
			flood(32)
		}
		c.mustClose(wire.CloseTooManyCommands)
		rpc[wire.WalletReply](other, 2, "wallet", wire.WalletRequest{})
	}
}

// Guests of one address come so fast and no faster; nobody else has to wait for them.
func TestRateOfGuests(t *testing.T) {
	s := newTestServer(t, limited(), func(o *Options) { o.Guests = Guests{Key: testGuestKey} })
	h := s.Handler()
	guest := func(from string) *http.Response { return post(h, from, "/v1/guests", `{"name":"Mei"}`) }
	began, n := time.Now(), 0
	for n < 300 && guest("198.51.100.7:"+strconv.Itoa(1000+n)).StatusCode == 200 {
		n++
	}
	if most := 101 + int(2*time.Since(began).Seconds()); n < 100 || n > most {
		t.Errorf("%d guests came at once, want 100 to %d", n, most)
	}
	if r := guest("198.51.100.8:1000"); r.StatusCode != 200 {
		t.Errorf("from another address: %d", r.StatusCode)
	}
}

// Rates without a limiter are a mistake of whoever wires the server.
func TestRatesNeedALimiter(t *testing.T) {
	if _, err := New(nil, nil, nil, nil, Options{Rates: true}); err == nil {
		t.Error("made a server that would keep no rates")
	}
}

// TestRefusedInOneGo: who makes the replies of a frame waits for the client before the first, not in their midst. He may be an ear,
// which hears for others, too.
func TestRefusedInOneGo(t *testing.T) {
	began := time.Now()
	var asked atomic.Int64 // how often the time was, since there is too much to send
	var tooMuch atomic.Pointer[hub.Conn]
	s := newTestServer(t, func(o *Options) {
		o.Rates, o.Local = true, memstore.NewLimiter(memstore.LimiterOptions{})
		o.Now = func() time.Time {
			if conn := tooMuch.Load(); conn != nil && asked.Add(1) == 1 {
				conn.Queue([]byte(`{"id":999,"rpc":{"data":"` + strings.Repeat("much", 1<<19) + `"}}`)) // nobody sends it yet
			}
			return began
		}
	})
	c, _ := connected(t, s.listen(t), wire.JSON, "ann")
	frame := func(n int) []string {
		frame := make([]string, n)
		for i := range frame {
			frame[i] = fmt.Sprintf(`{"id":%d,"rpc":{"method":"nothing"}}`, i+1)
		}
		return frame
	}
	ask := func(n int) {
		c.send(frame(n)...)
		for range n {
			c.next()
		}
	}
	for range (commandBurst - 1) / wire.CommandsPerFrame { // the connect command was one
		ask(wire.CommandsPerFrame)
	}
	ask((commandBurst - 1) % wire.CommandsPerFrame)
	conn := s.sockets.of("ann")[0].conn
	tooMuch.Store(conn)
	c.send(frame(3)...)
	s.eventually(t, "all three to be looked at", func() bool { return asked.Load() >= 3 })
	c.send(frame(1)...)
	time.Sleep(50 * time.Millisecond)
	if n := asked.Load(); n != 3 {
		t.Errorf("%d commands are looked at, though the client has not taken what he was sent before", n)
	}
	conn.Flush()
	for range 1 + 3 + 1 {
		c.next()
	}
}
