package webtest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/serviceworker"
)

// PushKeys are the keys of a browser's push subscription.
type PushKeys struct {
	key  *ecdh.PrivateKey
	Auth []byte
}

// NewPushKeys returns random keys.
func NewPushKeys(t testing.TB) PushKeys {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth)
	return PushKeys{key, auth}
}

// P256dh returns the public key.
func (k PushKeys) P256dh() []byte { return k.key.PublicKey().Bytes() }

// Texts returns the keys as a browser gives them to a page.
func (k PushKeys) Texts() (p256dh, auth string) {
	return base64.RawURLEncoding.EncodeToString(k.P256dh()), base64.RawURLEncoding.EncodeToString(k.Auth)
}

// Decrypt reads a notification as a browser does, by RFC 8291 and RFC 8188. It shares no code with the server.
func (k PushKeys) Decrypt(t testing.TB, body []byte) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(body) < 86 {
		t.Fatalf("a notification of %d bytes has no header", len(body))
	}
	salt, server := body[:16], body[21:21+int(body[20])]
	sender, err := ecdh.P256().NewPublicKey(server)
	must(err)
	secret, err := k.key.ECDH(sender)
	must(err)
	derive := func(secret, salt []byte, info string, n int) []byte {
		key, err := hkdf.Key(sha256.New, secret, salt, info, n)
		must(err)
		return key
	}
	ikm := derive(secret, k.Auth, "WebPush: info\x00"+string(k.P256dh())+string(server), 32)
	block, err := aes.NewCipher(derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	must(err)
	gcm, err := cipher.NewGCM(block)
	must(err)
	plain, err := gcm.Open(nil, derive(ikm, salt, "Content-Encoding: nonce\x00", 12), body[21+len(server):], nil)
	must(err)
	text, found := bytes.CutSuffix(bytes.TrimRight(plain, "\x00"), []byte{2})
	if !found {
		t.Fatalf("a notification lacks the delimiter of the last record: %q", plain)
	}
	return string(text)
}

// DeliverPush gives the service worker of the origin a push message, as a browser does after it has decrypted one.
func (v *Visitor) DeliverPush(tb testing.TB, origin, text string) {
	tb.Helper()
	found := make(chan serviceworker.RegistrationID, 1)
	tab := v.NewTab(tb, func(event any) {
		if updated, ok := event.(*serviceworker.EventWorkerRegistrationUpdated); ok {
			for _, r := range updated.Registrations {
				if strings.HasPrefix(r.ScopeURL, origin) && !r.IsDeleted {
					select {
					case found <- r.RegistrationID:
					default:
					}
				}
			}
		}
	})
	deliver := &Visitor{Tab: tab}
	mustCall(deliver, serviceworker.Enable, cdp.Empty{})
	select {
	case id := <-found:
		mustCall(deliver, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: origin, RegistrationID: id, Data: text})
	case <-time.After(stepTimeout):
		tb.Fatalf("%s has no service worker", origin)
	}
}
