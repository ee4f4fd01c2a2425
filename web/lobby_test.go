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
	"hongbao/web/wire"
)

// TestLobbyPlaces: never more at a time than there are places, and everybody comes in.
func TestLobbyPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLobby(3, time.Minute)
		var inside, most, served atomic.Int64
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				leave, err := l.enter(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				defer leave()
				if n := inside.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Second)
				inside.Add(-1)
				served.Add(1)
			})
		}
		all.Wait()
		if most.Load() != 3 || served.Load() != 50 {
			t.Errorf("%d of 50 were served, %d at a time", served.Load(), most.Load())
		}
	})
}

// TestLobbyFull: the line is as long as it takes, and when it is over its limit the next are sent away; who is in it
// is not kept for ever.
func TestLobbyFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLobby(2, 3*time.Second)
		if _, full := l.full(); full {
			t.Fatal("full although nobody is there")
		}
		for range 100 { // connects that take a second each
			leave, err := l.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			leave()
		}
		held := make(chan struct{})
		var refused atomic.Int64
		join := func() {
			go func() {
				leave, err := l.enter(context.Background())
				if errors.Is(err, chat.ErrUnavailable) {
					refused.Add(1)
					return
				}
				<-held
				leave()
			}()
			synctest.Wait()
		}
		for range 2 + 6 { // two inside, six in the line: three seconds
			if _, full := l.full(); full {
				t.Fatalf("full with %d in the line", l.waiting.Load())
			}
			join()
		}
		join()
		retry, full := l.full()
		if !full || retry < 3*time.Second || retry > 10*time.Second {
			t.Errorf("full: %t, come back after %v", full, retry)
		}
		time.Sleep(4*time.Second - time.Millisecond)
		synctest.Wait()
		if n := refused.Load(); n != 0 {
			t.Errorf("%d gave up too soon", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if n := refused.Load(); n != 7 || l.waiting.Load() != 0 {
			t.Errorf("%d of 7 gave up, %d still wait", n, l.waiting.Load())
		}
		close(held)
		synctest.Wait()
		if _, full := l.full(); full || len(l.places) != 0 {
			t.Error("places are not given back")
		}
	})
}

// TestLobbyOfAServer: 32 are served at a time, and as many may wait as are served within three seconds.
func TestLobbyOfAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLobby(connectPlaces, longestLine)
		for range 32 {
			leave, err := l.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer leave()
		}
		began := time.Now()
		if _, err := l.enter(t.Context()); !errors.Is(err, chat.ErrUnavailable) || time.Since(began) != 4*time.Second {
			t.Errorf("the 33rd hears %v after %v", err, time.Since(began))
		}
		l.pace = 100 * time.Millisecond
		for waiting, want := range map[int64]bool{960: false, 961: true} {
			l.waiting.Store(waiting)
			if _, full := l.full(); full != want {
				t.Errorf("full with %d in the line: %t", waiting, full)
			}
		}
	})
}

// TestSentAway: who comes when the line is too long hears before the upgrade when to come again; who waits in it too long hears
// that it is not his fault, on a connection that stays.
func TestSentAway(t *testing.T) {
	s := newTestServer(t)
	s.lobby = newLobby(1, time.Second)
	s.lobby.pace = 3 * time.Second
	addr := s.listen(t)
	leave, err := s.lobby.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	waits := dial(t, addr, wire.JSON)
	waits.send(`{"id":1,"connect":{"token":"` + goodToken(t, "ann") + `"}}`)
	for deadline := time.Now().Add(patience); s.lobby.waiting.Load() == 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("nobody waits")
		}
	}
	_, response, err := tryDial(addr, wire.JSON, nil)
	if err == nil || response.StatusCode != http.StatusServiceUnavailable {
		t.Fatalf("%v, %v", response, err)
	}
	if wait, err := strconv.Atoi(response.Header.Get("Retry-After")); err != nil || wait < 3 || wait > 8 {
		t.Errorf("come again after %q", response.Header.Get("Retry-After"))
	}
	mustFail(t, waits.reply(1), wire.CodeUnavailable)
	leave()
	if waits.connect(goodToken(t, "ann"), "{}").Client == "" {
		t.Error("not connected")
	}
	if _, response, err := tryDial(addr, wire.JSON, nil); err != nil {
		t.Errorf("%v, %v", response, err)
	}
	if n := s.lobby.refused.Load(); n != 1 {
		t.Errorf("%d were sent away", n)
	}
}

// TestStrangersTakeNoPlace: who has to wait for the keys of the host, with a token that anyone can make up, keeps nobody
// out.
func TestStrangersTakeNoPlace(t *testing.T) {
	h := newKeyHost(t)
	public, private, _ := ed25519.GenerateKey(nil)
	h.shows(200, jwksOf(t, jwkOf(t, public, "kid", "a")))
	s := newTestServer(t, func(o *Options) { o.JWT, o.Now = JWT{JWKS: h.URL}, h.now })
	s.lobby = newLobby(1, time.Second)
	addr := s.listen(t)
	dial(t, addr, wire.JSON).connect(named(t, "a", jwt.SigningMethodEdDSA, private), "{}")

	asked := make(chan struct{}, 1)
	h.does(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	h.pass(jwksGap)
	for range 3 {
		dial(t, addr, wire.JSON).send(`{"id":1,"connect":{"token":"` + named(t, "made-up", jwt.SigningMethodEdDSA, private) + `"}}`)
	}
	await(t, asked)
	dial(t, addr, wire.JSON).connect(named(t, "a", jwt.SigningMethodEdDSA, private), "{}")
}
