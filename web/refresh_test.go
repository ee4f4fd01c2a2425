package web

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/web/user/auth"
	"hongbao/web/user/auth/authtest"
	"hongbao/web/wire"
)

// TestRefreshIsNotRefused sends many refresh commands. They count against the connection's rate limit, but must never
// be refused: after a refused refresh, SDKs stop permanently or hang.
func TestRefreshIsNotRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t, withRates, withoutRefill)
		addr := s.listen(t)
		bothEncodings(t, func(t *testing.T, e wire.Encoding) {
			c, _ := connected(t, addr, e, "ann")
			const refreshes, frame = 120, 30 // more than the rate limit allows at once
			commands := func(from int, form string, args ...any) (frames []string) {
				for id := from; id < from+frame; id++ {
					frames = append(frames, fmt.Sprintf(`{"id":%d,`+form+`}`, append([]any{id}, args...)...))
				}
				return frames
			}
			for id := 100; id < 100+refreshes; id += frame {
				c.send(commands(id, `"refresh":{"token":"%s"}`, goodToken(t, "ann"))...)
			}
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
	})
}

// TestRefreshWithoutStore refreshes while the store cannot say whether the token was revoked. The token must be
// accepted and rechecked later, also on a server with Alone.
func TestRefreshWithoutStore(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		engines := newTestEngines(t)
		inner := engines.store.Store
		f := engines.faulty()
		s := engines.open(t, func(o *Options) { o.Alone = true })
		c, _ := connected(t, s.listen(t), wire.JSON, "ann")
		f.set(chat.ErrUnavailable)
		c.send(`{"id":2,"refresh":{"token":"` + mint(t, auth.Claims{User: "ann", Name: "Renamed"}, time.Hour) + `"}}`)
		if r := c.reply(2); r.Refresh == nil {
			t.Fatalf("refresh: %v", r)
		}
		noError(t, inner.Revoke(t.Context(), "ann", time.Now().Unix()+1))
		f.set(nil)
		c.mustClose(wire.CloseRevoked)
	})
}

// hungStore is a store whose calls to record a user block while it hangs.
type hungStore struct {
	chat.Store
	hangs atomic.Bool
}

func (s *hungStore) PutUser(ctx context.Context, p chat.Profile, issued int64) (chat.User, int64, error) {
	if s.hangs.Load() {
		<-ctx.Done()
		return chat.User{}, 0, chat.ErrUnavailable
	}
	return s.Store.PutUser(ctx, p, issued)
}

// TestRefreshDoesNotHang refreshes while the store hangs. The refresh must be answered before the client's timeout.
func TestRefreshDoesNotHang(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		engines := newTestEngines(t)
		hung := &hungStore{Store: engines.store.Store}
		engines.store.Store = hung
		s := engines.open(t, func(o *Options) { o.Alone = true })
		c, _ := connected(t, s.listen(t), wire.JSON, "ann")
		hung.hangs.Store(true)
		defer hung.hangs.Store(false)
		began := time.Now()
		c.send(`{"id":2,"refresh":{"token":"` + mint(t, auth.Claims{User: "ann", Name: "Renamed"}, time.Hour) + `"}}`)
		if r := c.reply(2); r.Refresh == nil {
			t.Errorf("refresh: %v", r)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("answered after %v", took)
		}
	})
}

// TestRefreshFails causes a temporary failure during a refresh. The client must not get an error: its socket must be
// closed, so that it reconnects.
func TestRefreshFails(t *testing.T) {
	t.Parallel()
	t.Run("a bug", func(t *testing.T) {
		engines := newTestEngines(t)
		f := engines.faulty()
		s := engines.open(t, func(o *Options) { o.Alone = true })
		addr := s.listen(t)
		for _, fault := range []error{errors.New("odd"), errBug} {
			c, _ := connected(t, addr, wire.JSON, "ann")
			f.set(fault)
			c.send(`{"id":2,"refresh":{"token":"` + mint(t, auth.Claims{User: "ann", Name: fmt.Sprint(fault)}, time.Hour) + `"}}`)
			c.mustClose(wire.CloseServerError)
			f.set(nil)
		}
	})
	t.Run("no key yet", func(t *testing.T) {
		h := authtest.NewKeyServer(t)
		public, private, _ := ed25519.GenerateKey(nil)
		h.Respond(200, authtest.JWKS(t, authtest.JWK(t, public, "kid", "a")))
		s := newTestServer(t, withKeyServer(h))
		c := dial(t, s.listen(t), wire.JSON)
		c.connect(authtest.SignWithKeyID(t, "a", jwt.SigningMethodEdDSA, private), "{}")
		h.Respond(500, nil)
		h.Advance(nextFetch)
		c.send(`{"id":2,"refresh":{"token":"` + authtest.SignWithKeyID(t, "new", jwt.SigningMethodEdDSA, private) + `"}}`)
		c.mustClose(wire.CloseServerError)
	})
}
