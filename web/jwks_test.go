package web

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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/web/wire"
)

// keyHost is a host's server of keys: it shows what it is told, and counts who asks.
type keyHost struct {
	*httptest.Server
	answer  atomic.Pointer[http.HandlerFunc]
	fetches atomic.Int64
	clock   atomic.Int64 // nanoseconds that have passed for the server
}

func newKeyHost(t *testing.T) *keyHost {
	t.Helper()
	h := &keyHost{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.fetches.Add(1)
		(*h.answer.Load())(w, r)
	}))
	t.Cleanup(h.Close)
	h.shows(500, nil)
	return h
}

func (h *keyHost) shows(status int, body []byte) {
	h.does(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body)
	})
}

func (h *keyHost) does(f http.HandlerFunc) { h.answer.Store(&f) }

func (h *keyHost) now() time.Time { return time.Now().Add(time.Duration(h.clock.Load())) }

func (h *keyHost) pass(d time.Duration) { h.clock.Add(int64(d)) }

func (h *keyHost) mustHaveBeenAsked(t *testing.T, times int64) {
	t.Helper()
	if n := h.fetches.Load(); n != times {
		t.Errorf("%d fetches, want %d", n, times)
	}
}

// rotor is a verifier of a host with two keys, a and b.
type rotor struct {
	*keyHost
	v      *verifier
	a, b   map[string]string // as the host shows them
	tokens map[string]string // by the name of their key
}

func newRotor(t *testing.T) *rotor {
	t.Helper()
	h := newKeyHost(t)
	v, err := newVerifier(JWT{JWKS: h.URL}, testGuestKey, h.now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r := &rotor{keyHost: h, v: v}
	publicA, privateA, _ := ed25519.GenerateKey(nil)
	publicB, privateB, _ := ed25519.GenerateKey(nil)
	r.a, r.b = jwkOf(t, publicA, "kid", "a"), jwkOf(t, publicB, "kid", "b")
	r.tokens = map[string]string{
		"a": named(t, "a", jwt.SigningMethodEdDSA, privateA), "b": named(t, "b", jwt.SigningMethodEdDSA, privateB),
		"": named(t, "", jwt.SigningMethodEdDSA, privateA), "none": named(t, "none", jwt.SigningMethodEdDSA, privateA),
		"forged a": named(t, "a", jwt.SigningMethodEdDSA, privateB),
	}
	return r
}

func (r *rotor) must(t *testing.T, name string, want error) {
	t.Helper()
	if _, err := r.v.verify(t.Context(), r.tokens[name]); !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Errorf("the token of key %q: %v, want %v", name, err, want)
	}
}

// A new key of the host is believed at its first token, an old one no longer when it is gone.
func TestJWKSRotation(t *testing.T) {
	r := newRotor(t)
	r.shows(200, jwksOf(t, r.a))
	r.must(t, "a", nil)
	r.must(t, "", nil) // there is only one
	r.must(t, "forged a", errTokenInvalid)
	r.mustHaveBeenAsked(t, 1)

	r.shows(200, jwksOf(t, r.a, r.b))
	r.must(t, "b", chat.ErrUnavailable) // too soon to ask again
	r.mustHaveBeenAsked(t, 1)
	r.pass(jwksGap)
	r.must(t, "b", nil)
	r.must(t, "a", nil)
	r.pass(jwksGap)
	r.must(t, "", errTokenInvalid) // which of the two? No other set would tell
	r.mustHaveBeenAsked(t, 2)

	r.shows(200, jwksOf(t, r.b))
	r.pass(jwksGap)
	r.must(t, "none", errTokenInvalid)
	r.must(t, "a", chat.ErrUnavailable) // it may have come back since
	r.must(t, "b", nil)
	r.mustHaveBeenAsked(t, 3)
	r.pass(jwksGap)
	r.must(t, "a", errTokenInvalid)
	r.mustHaveBeenAsked(t, 4)
}

// While the URL answers nothing good, the keys that are known stay good.
func TestJWKSOutage(t *testing.T) {
	r := newRotor(t)
	r.must(t, "a", chat.ErrUnavailable)
	r.must(t, "a", chat.ErrUnavailable)
	r.mustHaveBeenAsked(t, 1)
	guest, err := MintToken(testGuestKey, Claims{User: "guest:1", Issuer: guestIssuer}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.v.verify(t.Context(), guest); err != nil {
		t.Errorf("a guest needs no key of the host: %v", err)
	}
	r.shows(200, jwksOf(t, r.a))
	r.pass(jwksGap)
	r.must(t, "a", nil)
	for name, bad := range map[string]http.HandlerFunc{
		"500":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); _, _ = w.Write(jwksOf(t, r.b)) },
		"204":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
		"no JSON": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"no keys": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(jwksOf(t)) },
		"no good keys": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(jwksOf(t, jwkOf(t, testSecret, "kid", "b")))
		},
		"breaks off":    func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"leads astray":  func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "http://192.0.2.1/keys", 302) },
		"leads nowhere": func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/", 302) },
		"too long": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(append(jwksOf(t, r.b), strings.Repeat(" ", jwksBytes)...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r.does(bad)
			r.pass(jwksGap)
			before := r.fetches.Load()
			r.must(t, "b", chat.ErrUnavailable) // it may be a new one
			if r.fetches.Load() == before {
				t.Error("not asked: this proves nothing")
			}
			r.must(t, "a", nil)
		})
	}
}

// Names of keys that somebody makes up cost the host one fetch in ten seconds, however many there are.
func TestJWKSUnknownKeys(t *testing.T) {
	r := newRotor(t)
	r.shows(200, jwksOf(t, r.a))
	r.must(t, "a", nil)
	r.pass(jwksGap)
	asked, free := make(chan struct{}, 9), make(chan struct{})
	r.does(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-free
		_, _ = w.Write(jwksOf(t, r.a, r.b))
	})
	var crowd sync.WaitGroup
	crowd.Go(func() { r.must(t, "b", nil) })
	<-asked
	r.pass(jwksGap) // however long it takes
	for range 100 {
		crowd.Go(func() { r.must(t, "b", nil) }) // all of them wait for the one fetch
	}
	crowd.Go(func() { r.must(t, "a", nil) }) // which holds up nobody else
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.v.verify(gone, r.tokens["none"]); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("one who had gone waited: %v", err)
	}
	close(free)
	crowd.Wait()
	r.mustHaveBeenAsked(t, 2)
	r.must(t, "none", errTokenInvalid)
	for range 500 {
		r.must(t, "none", chat.ErrUnavailable)
	}
	r.mustHaveBeenAsked(t, 3)
}

// A host on https cannot lead us to where others could write.
func TestJWKSRedirects(t *testing.T) {
	r := newRotor(t)
	r.shows(200, jwksOf(t, r.a))
	for name, c := range map[string]struct {
		to   string
		good bool
	}{"https": {"/keys", true}, "http": {r.URL, false}} {
		secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/keys" {
				_, _ = w.Write(jwksOf(t, r.a))
				return
			}
			http.Redirect(w, q, c.to, http.StatusFound)
		}))
		defer secure.Close()
		keys, err := newJWKS(secure.URL, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		keys.client.Transport = secure.Client().Transport
		if _, err := keys.read(); (err == nil) != c.good {
			t.Errorf("redirected to %s: %v", name, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The keys are fetched at the start and every ten minutes, sooner when that failed, and never again after the end.
func TestJWKSRun(t *testing.T) {
	document := jwksOf(t, jwkOf(t, hostKeys().ed.Public(), "kid", "k"))
	synctest.Test(t, func(t *testing.T) {
		keys, err := newJWKS("https://host/keys", time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
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
			case 5: // hangs
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
			t.Errorf("asked at %v, want %v", at, want)
		}
		time.Sleep(time.Minute)
		if keys.fetch(nil) != nil {
			t.Error("who has not seen the last set fetched another")
		}
		if f := keys.fetch(keys.set.Load()); f == nil || f.wait(t.Context()) == nil {
			t.Error("fetched after the end")
		}
	})
}

// Without any key yet nobody knows who it is: that is no reason to send anyone away for good.
func TestJWKSNotThereYet(t *testing.T) {
	h := newKeyHost(t)
	s := newTestServer(t, func(o *Options) { o.JWT, o.Now = JWT{JWKS: h.URL}, h.now })
	c := dial(t, s.listen(t), wire.JSON)
	private := hostKeys().ed
	token := named(t, "k", jwt.SigningMethodEdDSA, private)
	c.send(`{"id":1,"connect":{"token":"` + token + `"}}`)
	if r := c.next(); r.Error == nil || r.Error.Code != uint32(wire.CodeUnavailable) || !r.Error.Temporary {
		t.Fatalf("got %v", r)
	}
	mustAnswer[wire.ErrorBody](t, ask(t, s.Handler(), "POST", "/v1/commands/wallet", token, ""), 503)
	if _, response, _ := tryDial(s.listen(t), wire.JSON, http.Header{"Authorization": {"Bearer " + token}}); response == nil || response.StatusCode != 503 {
		t.Errorf("upgrade: %v", response)
	}
	h.shows(200, jwksOf(t, jwkOf(t, private.Public(), "kid", "k")))
	h.pass(jwksGap)
	c.connect(token, "{}")
}
