package webpush

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
)

// browser is the receiving end of a subscription.
type browser struct {
	key  *ecdh.PrivateKey
	auth []byte
}

func newBrowser(t *testing.T) browser {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth)
	return browser{key, auth}
}

func (b browser) at(endpoint string) chat.Subscription {
	return chat.Subscription{User: "ann", Endpoint: endpoint, P256dh: b.key.PublicKey().Bytes(), Auth: b.auth}
}

// decrypt reads a notification by RFC 8291 and RFC 8188, independently of the library that writes it.
func (b browser) decrypt(t *testing.T, body []byte) string {
	t.Helper()
	salt, server := body[:16], body[21:21+int(body[20])]
	sender, err := ecdh.P256().NewPublicKey(server)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := b.key.ECDH(sender)
	if err != nil {
		t.Fatal(err)
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		key, err := hkdf.Key(sha256.New, secret, salt, info, n)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	ikm := derive(secret, b.auth, "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(server), 32)
	block, err := aes.NewCipher(derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gcm.Open(nil, derive(ikm, salt, "Content-Encoding: nonce\x00", 12), body[21+len(server):], nil)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(bytes.TrimRight(plain, "\x00")), "\x02")
}

// newTestSender returns a sender that may call the servers, and the subscriptions that it removes.
func newTestSender(t *testing.T, o Options, servers ...*httptest.Server) (*Sender, chan chat.Subscription) {
	keys, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	removed := make(chan chat.Subscription, 10)
	o.Keys, o.Subject = keys, "ops@example.com"
	o.Remove = func(_ context.Context, sub chat.Subscription) error {
		removed <- sub
		return nil
	}
	for _, server := range servers {
		o.Allowed = append(o.Allowed, server.Listener.Addr().String())
	}
	return NewSender(o), removed
}

// wantStats waits until the sender has counted as much.
func wantStats(t *testing.T, s *Sender, want Stats) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.Stats() != want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("stats %+v, want %+v", s.Stats(), want)
		}
	}
}

// TestBrowserDecryptsNotification also checks the headers that a push service reads.
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
	s, _ := newTestSender(t, Options{}, service)
	b := newBrowser(t)
	payload := strings.Repeat("x", MostPayload)
	s.Send(t.Context(), b.at(service.URL+"/one"), Note{Payload: []byte(payload), TTL: time.Hour, Topic: "room", Urgent: true})
	r := <-got
	if text := b.decrypt(t, r.body); text != payload {
		t.Errorf("decrypted %q", text)
	}
	for name, want := range map[string]string{"Ttl": "3600", "Topic": "room", "Urgency": "high", "Content-Encoding": "aes128gcm"} {
		if r.header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, r.header.Get(name), want)
		}
	}
	if !strings.HasSuffix(r.header.Get("Authorization"), ", k="+s.o.Keys.Public) {
		t.Errorf("Authorization is %q", r.header.Get("Authorization"))
	}
	wantStats(t, s, Stats{Sent: 1})
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
	s, removed := newTestSender(t, Options{}, service, inner)
	b := newBrowser(t)
	for _, path := range []string{"/redirect", "/huge", "/gone"} {
		s.Send(t.Context(), b.at(service.URL+path), Note{})
	}
	wantStats(t, s, Stats{Sent: 1, Gone: 1, Refused: 1})
	if sub := <-removed; sub.Endpoint != service.URL+"/gone" {
		t.Errorf("removed %s", sub.Endpoint)
	}
}

// TestPrivateAddressIsNotCalled uses a name that is allowed by its text and resolves to a loopback address.
func TestPrivateAddressIsNotCalled(t *testing.T) {
	s, _ := newTestSender(t, Options{})
	b := newBrowser(t)
	s.Send(t.Context(), b.at("https://localhost/x"), Note{})
	s.Send(t.Context(), b.at("https://127.0.0.1:6379/x"), Note{})
	s.Send(t.Context(), b.at("http://push.example/x"), Note{})
	wantStats(t, s, Stats{Failed: 1, Refused: 2})
	if _, err := s.post(t.Context(), delivery{to: b.at("https://localhost/x")}); err == nil || !strings.Contains(err.Error(), "no public address") {
		t.Errorf("a name that resolves to a loopback address: %v", err)
	}
	for _, address := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "fe80::1", "fd00::1",
		"::ffff:10.0.0.1", "64:ff9b::a00:1", "224.0.0.1", "255.255.255.255",
	} {
		if public(netip.MustParseAddr(address)) {
			t.Errorf("%s counts as public", address)
		}
	}
	if refusePrivate("tcp", "8.8.8.8:443", nil) != nil || refusePrivate("tcp", "8.8.8.8:22", nil) == nil {
		t.Error("of a public address, port 443 alone must be allowed")
	}
}

// TestStuckHostDelaysNoOther fills the queue of a host that never answers. Another host must still be served.
func TestStuckHostDelaysNoOther(t *testing.T) {
	release := make(chan struct{})
	stuck := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer stuck.Close()
	defer close(release)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer other.Close()
	s, _ := newTestSender(t, Options{Timeout: time.Hour}, stuck, other)
	b := newBrowser(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const surplus = 3
	for range mostQueued + 2*perHost + surplus {
		s.Send(ctx, b.at(stuck.URL), Note{})
	}
	s.Send(ctx, b.at(other.URL), Note{})
	for deadline := time.Now().Add(20 * time.Second); s.Stats().Sent != 1; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the other host was not served: %+v", s.Stats())
		}
	}
	if dropped := s.Stats().Dropped; dropped < surplus {
		t.Errorf("dropped %d, want at least %d", dropped, surplus)
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
	if _, err := ParseKeys("AAAA"); err == nil {
		t.Error("a key of 3 bytes was accepted")
	}
}
