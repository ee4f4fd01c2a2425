package auth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/web/user/auth/authtest"
)

// rotatingHost is a host that publishes the keys a and b, and a verifier of the host's tokens.
type rotatingHost struct {
	*authtest.KeyServer
	v      *Verifier
	a, b   map[string]string // as JSON Web Keys
	tokens map[string]string // by the ID of the key that signed them
}

func newRotatingHost(t *testing.T) *rotatingHost {
	t.Helper()
	server := authtest.NewKeyServer(t)
	h := &rotatingHost{KeyServer: server, v: newTestVerifier(t, JWT{JWKS: server.URL, Issuer: authtest.Issuer}, testGuestKey, server.Now)}
	publicA, privateA, _ := ed25519.GenerateKey(nil)
	publicB, privateB, _ := ed25519.GenerateKey(nil)
	h.a, h.b = authtest.JWK(t, publicA, "kid", "a"), authtest.JWK(t, publicB, "kid", "b")
	sign := func(kid string, private ed25519.PrivateKey) string {
		return authtest.SignWithKeyID(t, kid, jwt.SigningMethodEdDSA, private)
	}
	h.tokens = map[string]string{
		"a": sign("a", privateA), "b": sign("b", privateB), "": sign("", privateA), "none": sign("none", privateA),
		"forged a": sign("a", privateB),
	}
	return h
}

// verify verifies one of the tokens and checks the error. If want is nil, the token must be accepted.
func (h *rotatingHost) verify(t *testing.T, name string, want error) {
	t.Helper()
	if _, err := h.v.Verify(t.Context(), h.tokens[name]); !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Errorf("token of key %q: Verify returned %v, want %v", name, err, want)
	}
}

func (h *rotatingHost) wantFetches(t *testing.T, want int64) {
	t.Helper()
	if n := h.Fetches(); n != want {
		t.Errorf("%d fetches, want %d", n, want)
	}
}

// TestJWKSRotation changes the published keys. A new key must be accepted with its first token. A removed key must be
// refused after the next fetch.
func TestJWKSRotation(t *testing.T) {
	h := newRotatingHost(t)
	h.Respond(200, authtest.JWKS(t, h.a))
	h.verify(t, "a", nil)
	h.verify(t, "", nil) // accepted, because the set holds only one key
	h.verify(t, "forged a", ErrInvalid)
	h.wantFetches(t, 1)

	h.Respond(200, authtest.JWKS(t, h.a, h.b))
	h.verify(t, "b", chat.ErrUnavailable) // too early for another fetch
	h.wantFetches(t, 1)
	h.Advance(minFetchInterval)
	h.verify(t, "b", nil)
	h.verify(t, "a", nil)
	h.Advance(minFetchInterval)
	h.verify(t, "", ErrInvalid) // the set has two keys, so the token's key is ambiguous
	h.wantFetches(t, 2)

	h.Respond(200, authtest.JWKS(t, h.b))
	h.Advance(minFetchInterval)
	h.verify(t, "none", ErrInvalid)
	h.verify(t, "a", chat.ErrUnavailable) // the host may have published it again since the last fetch
	h.verify(t, "b", nil)
	h.wantFetches(t, 3)
	h.Advance(minFetchInterval)
	h.verify(t, "a", ErrInvalid)
	h.wantFetches(t, 4)
}

// TestJWKSOutage has the URL fail or return invalid sets. The last valid set must stay in use.
func TestJWKSOutage(t *testing.T) {
	h := newRotatingHost(t)
	h.verify(t, "a", chat.ErrUnavailable)
	h.verify(t, "a", chat.ErrUnavailable)
	h.wantFetches(t, 1)
	guest, err := SignGuest(testGuestKey, chat.User{ID: NewGuestID()}, time.Now(), time.Hour)
	noError(t, err)
	if _, err := h.v.Verify(t.Context(), guest); err != nil {
		t.Errorf("guest token refused without the host's keys: %v", err)
	}
	h.Respond(200, authtest.JWKS(t, h.a))
	h.Advance(minFetchInterval)
	h.verify(t, "a", nil)
	for name, bad := range map[string]http.HandlerFunc{
		"500": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			_, _ = w.Write(authtest.JWKS(t, h.b))
		},
		"204":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
		"not JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"no keys":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(authtest.JWKS(t)) },
		"no usable keys": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(authtest.JWKS(t, authtest.JWK(t, testSecret, "kid", "b")))
		},
		"aborted":       func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"bad redirect":  func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "http://192.0.2.1/keys", 302) },
		"redirect loop": func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/", 302) },
		"too large": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(append(authtest.JWKS(t, h.b), strings.Repeat(" ", maxKeySetBytes)...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h.Handle(bad)
			h.Advance(minFetchInterval)
			before := h.Fetches()
			h.verify(t, "b", chat.ErrUnavailable) // it may be a key that is not fetched yet
			if h.Fetches() == before {
				t.Error("no fetch was made, so the test shows nothing")
			}
			h.verify(t, "a", nil)
		})
	}
}

// TestJWKSUnknownKeys verifies many tokens with invented key IDs. They must cause only one fetch per minFetchInterval.
func TestJWKSUnknownKeys(t *testing.T) {
	h := newRotatingHost(t)
	h.Respond(200, authtest.JWKS(t, h.a))
	h.verify(t, "a", nil)
	h.Advance(minFetchInterval)
	fetching, release := make(chan struct{}, 9), make(chan struct{})
	h.Handle(func(w http.ResponseWriter, _ *http.Request) {
		fetching <- struct{}{}
		<-release
		_, _ = w.Write(authtest.JWKS(t, h.a, h.b))
	})
	var callers sync.WaitGroup
	callers.Go(func() { h.verify(t, "b", nil) })
	<-fetching
	h.Advance(minFetchInterval) // no second fetch starts while one is in progress
	for range 100 {
		callers.Go(func() { h.verify(t, "b", nil) }) // all callers wait for the same fetch
	}
	callers.Go(func() { h.verify(t, "a", nil) }) // a known key needs no fetch
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.v.Verify(cancelled, h.tokens["none"]); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("with a cancelled context Verify returned %v, want ErrUnavailable", err)
	}
	close(release)
	callers.Wait()
	h.wantFetches(t, 2)
	h.verify(t, "none", ErrInvalid)
	for range 500 {
		h.verify(t, "none", chat.ErrUnavailable)
	}
	h.wantFetches(t, 3)
}

// TestJWKSRedirects has the URL redirect. A redirect from HTTPS to plain HTTP must be refused.
func TestJWKSRedirects(t *testing.T) {
	h := newRotatingHost(t)
	h.Respond(200, authtest.JWKS(t, h.a))
	for name, c := range map[string]struct {
		to   string
		good bool
	}{"https": {"/keys", true}, "http": {h.URL, false}} {
		secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/keys" {
				_, _ = w.Write(authtest.JWKS(t, h.a))
				return
			}
			http.Redirect(w, q, c.to, http.StatusFound)
		}))
		defer secure.Close()
		keys, err := newRemoteKeys(secure.URL, time.Now, slog.New(slog.DiscardHandler))
		noError(t, err)
		keys.client.Transport = secure.Client().Transport
		if _, err := keys.read(); (err == nil) != c.good {
			t.Errorf("redirect to %s: read returned %v, want success: %t", name, err, c.good)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestJWKSRun calls run. It must fetch at once and then every ten minutes. It must retry a failed fetch sooner, and
// fetch nothing after it returns.
func TestJWKSRun(t *testing.T) {
	document := authtest.JWKS(t, authtest.JWK(t, hostKeys().ed.Public(), "kid", "k"))
	synctest.Test(t, func(t *testing.T) {
		keys, err := newRemoteKeys("https://host/keys", time.Now, slog.New(slog.DiscardHandler))
		noError(t, err)
		var at []time.Duration
		began := time.Now()
		keys.client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Context().Err() != nil {
				return nil, r.Context().Err()
			}
			at = append(at, time.Since(began))
			switch len(at) {
			case 1, 4:
				return nil, errors.New("down")
			case 5: // does not respond
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(string(document)))}, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 31*time.Minute)
		defer cancel()
		keys.run(ctx)
		want := []time.Duration{0, 10 * time.Second, 610 * time.Second, 1210 * time.Second, 1220 * time.Second, 1235 * time.Second, 1835 * time.Second}
		if fmt.Sprint(at) != fmt.Sprint(want) {
			t.Errorf("fetches at %v, want %v", at, want)
		}
		time.Sleep(time.Minute)
		if keys.startFetch(nil) != nil {
			t.Error("startFetch with an old set started a fetch, want none")
		}
		if f := keys.startFetch(keys.set.Load()); f == nil || f.wait(t.Context()) == nil {
			t.Error("a fetch succeeded after run returned")
		}
	})
}
