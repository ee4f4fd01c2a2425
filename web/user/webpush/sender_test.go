package webpush

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/chat"
	"hongbao/web/webtest"
)

func subscriptionAt(k webtest.PushKeys, endpoint string) chat.Subscription {
	return chat.Subscription{User: "ann", Endpoint: endpoint, P256dh: k.P256dh(), Auth: k.Auth}
}

// removals is a Store that records which subscriptions are deleted.
type removals struct {
	Store
	removed chan chat.Subscription
}

func (r removals) DeleteSubscription(_ context.Context, sub chat.Subscription) error {
	r.removed <- sub
	return nil
}

// newTestSender returns a sender that may call servers on loopback addresses, and the subscriptions that it removes.
func newTestSender(t *testing.T, allowed []string, timeout time.Duration) (*sender, chan chat.Subscription) {
	t.Helper()
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	store := removals{removed: make(chan chat.Subscription, 10)}
	return newSender(Options{Keys: keys, Contact: "mailto:ops@example.com", Allowed: allowed, Store: store, Timeout: timeout, Log: slog.New(slog.DiscardHandler)}), store.removed
}

var loopback = []string{"127.0.0.1"}

// wantStats waits until the sender has counted as much.
func wantStats(t *testing.T, s *sender, want Stats) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); s.stats() != want; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("stats %+v, want %+v", s.stats(), want)
		}
	}
}

// TestBrowserDecryptsNotification also checks what a push service reads, among it the signature of the server.
func TestBrowserDecryptsNotification(t *testing.T) {
	type received struct {
		header http.Header
		body   []byte
	}
	got := make(chan received, 1)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- received{r.Header, body}
		w.WriteHeader(http.StatusCreated)
	}))
	defer service.Close()
	s, _ := newTestSender(t, loopback, requestTimeout)
	k := webtest.NewPushKeys(t)
	size := 0
	for _, payload := range []string{strings.Repeat("x", mostPayload), "short"} {
		s.send(t.Context(), subscriptionAt(k, service.URL+"/one"), note{payload: []byte(payload), ttl: time.Hour, topic: "room"})
		r := <-got
		if text := k.Decrypt(t, r.body); text != payload {
			t.Errorf("decrypted %q, want %q", text, payload)
		}
		if size == 0 {
			size = len(r.body)
		}
		if len(r.body) != size {
			t.Errorf("a notification has %d bytes, and another %d", len(r.body), size)
		}
		for name, want := range map[string]string{"Ttl": "3600", "Topic": "room", "Urgency": "high", "Content-Encoding": "aes128gcm"} {
			if r.header.Get(name) != want {
				t.Errorf("%s is %q, want %q", name, r.header.Get(name), want)
			}
		}
		checkSignature(t, r.header.Get("Authorization"), s.o.Keys.Public, service.URL)
	}
	wantStats(t, s, Stats{Sent: 2})
	s.send(t.Context(), subscriptionAt(k, service.URL), note{payload: make([]byte, mostPayload+1)})
	wantStats(t, s, Stats{Sent: 2, Failed: 1})
}

// checkSignature checks the header by which a server identifies itself (RFC 8292).
func checkSignature(t *testing.T, header, public, service string) {
	t.Helper()
	token, key, found := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	if !found || key != public {
		t.Fatalf("Authorization is %q, want the key %s", header, public)
	}
	point, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	var claims jwt.RegisteredClaims
	if _, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return verifier, nil },
		jwt.WithValidMethods([]string{"ES256"}), jwt.WithAudience(service), jwt.WithExpirationRequired()); err != nil {
		t.Error(err)
	}
	if claims.Subject != "mailto:ops@example.com" || time.Until(claims.ExpiresAt.Time) > 24*time.Hour {
		t.Errorf("the token says %+v", claims)
	}
}

// TestHostilePushServices answers by a redirect to an inner server, a huge body, and the end of the subscription.
func TestHostilePushServices(t *testing.T) {
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer inner.Close()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, inner.URL, http.StatusTemporaryRedirect)
		case "/huge":
			for { // until the sender closes the connection
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		case "/gone":
			w.WriteHeader(http.StatusGone)
		}
	}))
	defer service.Close()
	s, removed := newTestSender(t, loopback, requestTimeout)
	k := webtest.NewPushKeys(t)
	for _, path := range []string{"/redirect", "/huge", "/gone"} {
		s.send(t.Context(), subscriptionAt(k, service.URL+path), note{})
	}
	wantStats(t, s, Stats{Sent: 1, Gone: 1, Refused: 1})
	if sub := <-removed; sub.Endpoint != service.URL+"/gone" {
		t.Errorf("removed %s", sub.Endpoint)
	}
}

// TestPrivateAddressIsNotCalled uses a name that is allowed by its text and resolves to a loopback address.
func TestPrivateAddressIsNotCalled(t *testing.T) {
	s, _ := newTestSender(t, nil, requestTimeout)
	k := webtest.NewPushKeys(t)
	for _, endpoint := range []string{"https://localhost/x", "https://127.0.0.1:6379/x", "http://push.example/x"} {
		s.send(t.Context(), subscriptionAt(k, endpoint), note{})
	}
	wantStats(t, s, Stats{Failed: 1, Refused: 2})
	if _, err := s.post(t.Context(), delivery{to: subscriptionAt(k, "https://localhost/x")}); err == nil || !strings.Contains(err.Error(), "is not public") {
		t.Errorf("a name that resolves to a loopback address: %v", err)
	}
}

// TestStuckHostDelaysNoOther fills the queue of a host that never answers. Another host must still be served, and the stuck one keeps no slot of the
// known hosts.
func TestStuckHostDelaysNoOther(t *testing.T) {
	release := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer stuck.Close()
	defer close(release)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer other.Close()
	s, _ := newTestSender(t, loopback, time.Hour)
	k := webtest.NewPushKeys(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const surplus = 3
	for range mostQueued + 2*perHost + surplus {
		s.send(ctx, subscriptionAt(k, stuck.URL), note{})
	}
	s.send(ctx, subscriptionAt(k, other.URL), note{})
	for deadline := time.Now().Add(time.Minute); s.stats().Sent != 1 || len(s.fresh) != perHost; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after 20 s: %+v, and the stuck host has %d slots; want the other host served, and %d slots", s.stats(), len(s.fresh), perHost)
		}
	}
	if dropped := s.stats().Dropped; dropped < surplus {
		t.Errorf("dropped %d, want at least %d", dropped, surplus)
	}
}

// TestHostThatFailsIsNotKnown lets a host take a notification and then fail.
func TestHostThatFailsIsNotKnown(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s, _ := newTestSender(t, loopback, requestTimeout)
	k := webtest.NewPushKeys(t)
	known := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.known) - len(makers)
	}
	var sent int64
	for until := time.Now().Add(time.Minute); known() == 0 && time.Now().Before(until); { // again if the machine made the host slow
		s.send(t.Context(), subscriptionAt(k, service.URL), note{})
		sent++
		wantStats(t, s, Stats{Sent: sent})
	}
	if known() != 1 {
		t.Error("the host is not known after it has taken a notification")
	}
	service.Close()
	s.send(t.Context(), subscriptionAt(k, service.URL), note{})
	wantStats(t, s, Stats{Sent: sent, Failed: 1})
	if known() != 0 {
		t.Error("the host is known after it has failed")
	}
}

func TestKeysAreReadAgain(t *testing.T) {
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseKeys(keys.Private); err != nil || again != keys {
		t.Errorf("read %+v, %v", again, err)
	}
	for _, bad := range []string{"AAAA", keys.Private + "=", strings.Repeat("A", 43)} {
		if _, err := ParseKeys(bad); err == nil {
			t.Errorf("the key %q was accepted", bad)
		}
	}
}
