package chat

import (
	"context"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"
	"time"
)

// Subscription is where the push service of a browser takes notifications for a user that has no socket (Web Push).
type Subscription struct {
	User     string
	Endpoint string // URL of the push service; a secret of the browser and its push service
	P256dh   []byte // public key of the browser: an uncompressed point of P-256
	Auth     []byte // secret of the browser, authSecretBytes long
	At       time.Time
}

// ID names the subscription among those of its user.
func (s Subscription) ID() []byte {
	sum := sha256.Sum256([]byte(s.Endpoint))
	return sum[:]
}

// Audience selects subscriptions of those members of a room that have not silenced it (Prefs) and have not read up to Seq.
type Audience struct {
	Room  string
	Seq   int64
	Of    []string     // only of these users; empty: of all members
	Now   time.Time    // a silence that has ended then does not count
	After Subscription // only those after this one, in the order of user and ID; zero: from the first one
	Limit int
}

// Limits of subscriptions.
const (
	SubscriptionsPerUser = 5
	endpointBytes        = 1024
	authSecretBytes      = 16 // RFC 8291, section 3.2
)

// NewSubscription is a subscription as a browser gives it: the keys are in base64url.
type NewSubscription struct{ Endpoint, P256dh, Auth string }

// Subscribe adds a push subscription of the user's browser, or replaces the keys of the same endpoint. If the user has more than
// SubscriptionsPerUser then, the oldest ones are removed.
func (s *Service) Subscribe(ctx context.Context, user string, n NewSubscription) error {
	sub := Subscription{User: user, Endpoint: n.Endpoint, At: s.now()}
	if err := checkEndpoint(n.Endpoint); err != nil {
		return err
	}
	var err error
	if sub.P256dh, err = decodeKey(n.P256dh); err == nil {
		_, err = ecdh.P256().NewPublicKey(sub.P256dh)
	}
	if err != nil {
		return BadField("p256dh", "must be a public key of P-256 in base64url")
	}
	if sub.Auth, err = decodeKey(n.Auth); err != nil || len(sub.Auth) != authSecretBytes {
		return BadField("auth", "must be 16 bytes in base64url")
	}
	return s.store.PutSubscription(ctx, sub, SubscriptionsPerUser)
}

// Unsubscribe removes the push subscription with this endpoint, if the user has it.
func (s *Service) Unsubscribe(ctx context.Context, user, endpoint string) error {
	if err := checkEndpoint(endpoint); err != nil {
		return err
	}
	return s.store.DeleteSubscription(ctx, Subscription{User: user, Endpoint: endpoint})
}

func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || len(endpoint) > endpointBytes || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" || checkNUL("endpoint", endpoint) != nil {
		return BadField("endpoint", "must be a URL of at most 1024 bytes, without a password")
	}
	return nil
}

// decodeKey reads base64url with or without padding.
func decodeKey(text string) ([]byte, error) {
	return base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
}
