package webpush

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	vapid "github.com/SherClockHolmes/webpush-go"

	"hongbao/chat"
)

// Keys identify the server to push services (VAPID, RFC 8292). Both are in base64url.
type Keys struct{ Private, Public string }

// NewKeys draws keys.
func NewKeys() (Keys, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return Keys{}, fmt.Errorf("draw VAPID key: %w", err)
	}
	return keysOf(key), nil
}

// ParseKeys returns the keys of a private key, which is 32 bytes in base64url.
func ParseKeys(private string) (Keys, error) {
	raw, err := base64.RawURLEncoding.DecodeString(private)
	if err != nil {
		return Keys{}, fmt.Errorf("VAPID private key is no base64url without padding: %w", err)
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return Keys{}, fmt.Errorf("VAPID private key of %d bytes is none of P-256: %w", len(raw), err)
	}
	return keysOf(key), nil
}

func keysOf(key *ecdh.PrivateKey) Keys {
	return Keys{
		Private: base64.RawURLEncoding.EncodeToString(key.Bytes()),
		Public:  base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()),
	}
}

// subscriptionOf returns a subscription as the library takes it.
func subscriptionOf(sub chat.Subscription) *vapid.Subscription {
	return &vapid.Subscription{Endpoint: sub.Endpoint, Keys: vapid.Keys{
		P256dh: base64.RawURLEncoding.EncodeToString(sub.P256dh), Auth: base64.RawURLEncoding.EncodeToString(sub.Auth),
	}}
}
