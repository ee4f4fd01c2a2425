package web

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/web/user/auth/authtest"
	"hongbao/web/wire"
)

// TestConnectLimiterSlots starts more connects than there are slots. No more than the slots may run concurrently, and
// all must run in the end.
func TestConnectLimiterSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newConnectLimiter(3, time.Minute)
		var running, most, served atomic.Int64
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				release, err := l.acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				defer release()
				if n := running.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Second)
				running.Add(-1)
				served.Add(1)
			})
		}
		all.Wait()
		if most.Load() != 3 || served.Load() != 50 {
			t.Errorf("%d of 50 connects ran, at most %d at once; want all, 3 at once", served.Load(), most.Load())
		}
	})
}

// TestConnectLimiterFull fills the queue. It must be full when the expected wait reaches maxWait. A waiting connect
// must give up after 4/3 of maxWait.
func TestConnectLimiterFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newConnectLimiter(2, 3*time.Second)
		if _, full := l.full(); full {
			t.Fatal("full without any connect")
		}
		for range 100 { // so that the average is one second
			release, err := l.acquire(t.Context())
			noError(t, err)
			time.Sleep(time.Second)
			release()
		}
		held := make(chan struct{})
		var refused atomic.Int64
		join := func() {
			go func() {
				release, err := l.acquire(context.Background())
				if errors.Is(err, chat.ErrUnavailable) {
					refused.Add(1)
					return
				}
				<-held
				release()
			}()
			synctest.Wait()
		}
		for range 2 + 6 { // two run and six wait, for up to three seconds
			if _, full := l.full(); full {
				t.Fatalf("full with %d connects in the queue, want not full", l.waiting.Load())
			}
			join()
			if got, want := l.queued(), l.waiting.Load() > 0; got != want {
				t.Errorf("queued() is %t with %d connects in the queue", got, l.waiting.Load())
			}
		}
		join()
		retry, full := l.full()
		if !full || retry < 3*time.Second || retry > 10*time.Second {
			t.Errorf("full: %t, retry after %v; want full, 3 to 10 s", full, retry)
		}
		time.Sleep(4*time.Second - time.Millisecond)
		synctest.Wait()
		if n := refused.Load(); n != 0 {
			t.Errorf("%d connects gave up before 4 s", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if n := refused.Load(); n != 7 || l.waiting.Load() != 0 {
			t.Errorf("%d of 7 connects gave up after 4 s, %d still wait", n, l.waiting.Load())
		}
		close(held)
		synctest.Wait()
		if _, full := l.full(); full || len(l.slots) != 0 {
			t.Error("slots are not given back")
		}
	})
}

// TestConnectLimiterOfServer checks the limits of a real server: 32 connects run concurrently, and as many may wait as
// can run within three seconds.
func TestConnectLimiterOfServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newConnectLimiter(connectSlots, maxConnectWait)
		for range 32 {
			release, err := l.acquire(t.Context())
			noError(t, err)
			defer release()
		}
		began := time.Now()
		if _, err := l.acquire(t.Context()); !errors.Is(err, chat.ErrUnavailable) || time.Since(began) != 4*time.Second {
			t.Errorf("33rd connect: %v after %v, want ErrUnavailable after 4s", err, time.Since(began))
		}
		l.average = 100 * time.Millisecond
		for waiting, want := range map[int64]bool{960: false, 961: true} {
			l.waiting.Store(waiting)
			if _, full := l.full(); full != want {
				t.Errorf("full with %d connects in the queue: %t, want %t", waiting, full, want)
			}
		}
	})
}

// TestConnectRefusedWhenFull fills the queue. A new socket must be refused before the upgrade and told when to retry. A
// connect that has waited too long must get a temporary error, and its socket must stay open.
func TestConnectRefusedWhenFull(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t)
		s.connects.slots, s.connects.maxWait = make(chan struct{}, 1), 5*time.Second
		s.connects.average = 6 * time.Second
		addr := s.listen(t)
		release, err := s.connects.acquire(t.Context())
		noError(t, err)
		waiting := dial(t, addr, wire.JSON)
		waiting.send(`{"id":1,"connect":{"token":"` + goodToken(t, "ann") + `"}}`)
		for deadline := time.Now().Add(patience); s.connects.waiting.Load() == 0; runtime.Gosched() {
			if time.Now().After(deadline) {
				t.Fatal("no connect waits for a slot")
			}
		}
		_, response, err := tryDial(addr, wire.JSON, nil)
		if err == nil || response.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("%v, %v", response, err)
		}
		if wait, err := strconv.Atoi(response.Header.Get("Retry-After")); err != nil || wait < 6 || wait > 13 {
			t.Errorf("Retry-After is %q, want 6 to 13", response.Header.Get("Retry-After"))
		}
		mustFail(t, waiting.reply(1), wire.CodeUnavailable)
		release()
		if waiting.connect(goodToken(t, "ann"), "{}").Client == "" {
			t.Error("connect after a slot became free has no client ID")
		}
		if _, response, err := tryDial(addr, wire.JSON, nil); err != nil {
			t.Errorf("%v, %v", response, err)
		}
		if n := s.connects.refused.Load(); n != 1 {
			t.Errorf("%d sockets were refused, want 1", n)
		}
	})
}

// TestTokenCheckTakesNoSlot has a connect wait for a fetch of the host's keys. It must not take a slot, because anyone
// can invent a token that causes a fetch.
func TestTokenCheckTakesNoSlot(t *testing.T) {
	t.Parallel()
	h := authtest.NewKeyServer(t)
	public, private, _ := ed25519.GenerateKey(nil)
	h.Respond(200, authtest.JWKS(t, authtest.JWK(t, public, "kid", "a")))
	s := newTestServer(t, withKeyServer(h))
	s.connects.slots, s.connects.maxWait = make(chan struct{}, 1), time.Second
	addr := s.listen(t)
	dial(t, addr, wire.JSON).connect(authtest.SignWithKeyID(t, "a", jwt.SigningMethodEdDSA, private), "{}")

	fetching := make(chan struct{}, 1)
	h.Handle(func(_ http.ResponseWriter, r *http.Request) {
		fetching <- struct{}{}
		<-r.Context().Done()
	})
	h.Advance(nextFetch)
	for range 3 {
		dial(t, addr, wire.JSON).send(`{"id":1,"connect":{"token":"` + authtest.SignWithKeyID(t, "invented", jwt.SigningMethodEdDSA, private) + `"}}`)
	}
	await(t, fetching)
	dial(t, addr, wire.JSON).connect(authtest.SignWithKeyID(t, "a", jwt.SigningMethodEdDSA, private), "{}")
}
