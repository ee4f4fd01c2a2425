package web

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/centrifugal/centrifuge-go"
	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/web/wire"
)

// A refresh costs its connection what every command costs, but is never refused: SDKs stop for good, or hang.
func TestRefreshIsNotRefused(t *testing.T) {
	s := newTestServer(t, withRates)
	addr := s.listen(t)
	bothEncodings(t, func(t *testing.T, e wire.Encoding) {
		c, _ := connected(t, addr, e, "ann")
		const refreshes, frame = 120, 30 // more than the bucket holds
		commands := func(from int, form string, args ...any) (frames []string) {
			for id := from; id < from+frame; id++ {
				frames = append(frames, fmt.Sprintf(`{"id":%d,`+form+`}`, append([]any{id}, args...)...))
			}
			return frames
		}
		for id := 100; id < 100+refreshes; id += frame {
			c.send(commands(id, `"refresh":{"token":"%s"}`, goodToken(t, "ann"))...)
		}
		// One would do, but that a slow machine leaves time for the bucket to be filled again.
		c.send(commands(1000, `"rpc":{"method":"wallet"}`)...)
		refused := false
		for range refreshes + frame {
			switch r := c.next(); {
			case r.Id >= 1000:
				refused = refused || r.Error != nil && r.Error.Code == uint32(wire.CodeRateLimited)
			case r.Refresh == nil:
				t.Fatalf("a refresh over the rate: %v", r)
			}
		}
		if !refused {
			t.Errorf("after %d refreshes none of %d commands is over the rate", refreshes, frame)
		}
	})
}

// An SDK that asks for too much refreshes its token all the same, and lives.
func TestSDKRefreshesOverTheRate(t *testing.T) {
	t.Parallel() // it waits for the clock
	s := newTestServer(t, withRates)
	c := newSDKClient(t, s.listen(t), wire.JSON, centrifuge.Config{
		Token: mint(t, Claims{User: "ann"}, 2*time.Second),
		GetToken: func(centrifuge.ConnectionTokenEvent) (string, error) {
			return mint(t, Claims{User: "ann"}, time.Hour), nil
		},
	})
	if err := c.Connect(); err != nil {
		t.Fatal(err)
	}
	await(t, c.connected)
	ask := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := c.RPC(ctx, "wallet", []byte("{}"))
		return err
	}
	var crowd sync.WaitGroup
	for range 150 { // more than the bucket holds, however busy the machine is
		crowd.Go(func() { _ = ask() })
	}
	crowd.Wait()
	limited := 0
	for deadline := time.Now().Add(patience); s.refreshes() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("not refreshed")
		}
		var refused *centrifuge.Error
		if err := ask(); errors.As(err, &refused) && refused.Code == uint32(wire.CodeRateLimited) {
			limited++
			time.Sleep(commandEvery) // else it would be closed; so there is never more than one command in the bucket
		}
	}
	if limited == 0 {
		t.Error("never over the rate: this test proves nothing")
	}
	s.eventually(t, "an answer", func() bool { return ask() == nil })
	if len(c.connected) > 0 {
		t.Error("refreshed by coming back, not on the socket")
	}
}

// While nobody can say whether a good token was revoked it is good; that is looked into later, on a server that is alone, too.
func TestRefreshWithoutStore(t *testing.T) {
	t.Parallel() // it waits for the clock
	house := newTestHouse(t)
	inner := house.store.Store
	f := house.faulty()
	s := house.open(t, func(o *Options) { o.Alone = true })
	c, _ := connected(t, s.listen(t), wire.JSON, "ann")
	f.set(chat.ErrUnavailable)
	c.send(`{"id":2,"refresh":{"token":"` + mint(t, Claims{User: "ann", Name: "Renamed"}, time.Hour) + `"}}`)
	if r := c.reply(2); r.Refresh == nil {
		t.Fatalf("refresh: %v", r)
	}
	if err := inner.Revoke(t.Context(), "ann", time.Now().Unix()+1); err != nil {
		t.Fatal(err)
	}
	f.set(nil)
	c.mustClose(wire.CloseRevoked)
}

// hungStore does not answer who notes a user, as soon as it is told to hang.
type hungStore struct {
	chat.Store
	hangs atomic.Bool
}

func (s *hungStore) PutUser(ctx context.Context, u chat.User, issued int64) (int64, error) {
	if s.hangs.Load() {
		<-ctx.Done()
		return 0, chat.ErrUnavailable
	}
	return s.Store.PutUser(ctx, u, issued)
}

// Who refreshes while the store hangs is answered before he gives up.
func TestRefreshDoesNotHang(t *testing.T) {
	t.Parallel() // it waits for the clock
	house := newTestHouse(t)
	hung := &hungStore{Store: house.store.Store}
	house.store.Store = hung
	s := house.open(t, func(o *Options) { o.Alone = true })
	c, _ := connected(t, s.listen(t), wire.JSON, "ann")
	hung.hangs.Store(true)
	defer hung.hangs.Store(false)
	began := time.Now()
	c.send(`{"id":2,"refresh":{"token":"` + mint(t, Claims{User: "ann", Name: "Renamed"}, time.Hour) + `"}}`)
	if r := c.reply(2); r.Refresh == nil {
		t.Errorf("refresh: %v", r)
	}
	if took := time.Since(began); took > 2*admitTime {
		t.Errorf("answered after %v", took)
	}
}

// A fault that passes is no answer to a refresh: its client comes back.
func TestRefreshFails(t *testing.T) {
	t.Run("a bug", func(t *testing.T) {
		house := newTestHouse(t)
		f := house.faulty()
		s := house.open(t, func(o *Options) { o.Alone = true })
		addr := s.listen(t)
		for _, fault := range []error{errors.New("odd"), errBug} {
			c, _ := connected(t, addr, wire.JSON, "ann")
			f.set(fault)
			c.send(`{"id":2,"refresh":{"token":"` + mint(t, Claims{User: "ann", Name: fmt.Sprint(fault)}, time.Hour) + `"}}`)
			c.mustClose(wire.CloseServerError)
			f.set(nil)
		}
	})
	t.Run("no key yet", func(t *testing.T) {
		h := newKeyHost(t)
		public, private, _ := ed25519.GenerateKey(nil)
		h.shows(200, jwksOf(t, jwkOf(t, public, "kid", "a")))
		s := newTestServer(t, func(o *Options) { o.JWT, o.Now = JWT{JWKS: h.URL}, h.now })
		c := dial(t, s.listen(t), wire.JSON)
		c.connect(named(t, "a", jwt.SigningMethodEdDSA, private), "{}")
		h.shows(500, nil)
		h.pass(jwksGap)
		c.send(`{"id":2,"refresh":{"token":"` + named(t, "new", jwt.SigningMethodEdDSA, private) + `"}}`)
		c.mustClose(wire.CloseServerError)
	})
}
