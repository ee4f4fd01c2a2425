package webpush

import (
	"cmp"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	vapid "github.com/SherClockHolmes/webpush-go"

	"hongbao/chat"
	"hongbao/web/dial"
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
		return Keys{}, errors.New("is no base64url without padding")
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return Keys{}, fmt.Errorf("has %d bytes that are no private key of P-256, want 32", len(raw))
	}
	return keysOf(key), nil
}

func keysOf(key *ecdh.PrivateKey) Keys {
	return Keys{Private: base64url(key.Bytes()), Public: base64url(key.PublicKey().Bytes())}
}

func base64url(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// Bounds of a sender.
const (
	slots      = 128  // requests under way
	newSlots   = 32   // of them, to hosts that are not known to have taken their last notification quickly
	mostHosts  = 2000 // hosts that are not known and have notifications waiting or under way
	mostKnown  = 1000 // known hosts that are remembered: they took their last notification quickly
	recordSize = 1024 // bytes of each notification, so that its length tells nothing

	// Of one host: requests under way, and notifications that wait. Most browsers have the push service of their maker, so a
	// host that takes notifications gets many.
	perHost, perKnownHost       = 8, 32
	mostQueued, mostKnownQueued = 1000, 20_000

	mostWaiting      = 50_000 // notifications that wait, of all hosts together
	mostFreshWaiting = 10_000 // of them, those of hosts that are not known
	mostHostsOfUser  = 3      // hosts that are not known and have notifications because of one user

	fastAnswer     = 2 * time.Second // a host whose answer takes longer is not known, or not any more
	requestTimeout = 10 * time.Second
	mostHeader     = 16 << 10
	mostBody       = 4 << 10 // bytes of an answer that are read, so that the connection can be used again
)

// mostPayload is the size of the largest payload: a record less its header (86), tag (16) and delimiter (1).
const mostPayload = recordSize - 86 - 16 - 1

// note is a notification.
type note struct {
	payload []byte
	ttl     time.Duration // how long the push service keeps it for a browser that is offline
	topic   string        // replaces a kept notification of the same topic; at most 32 characters of base64url
}

// Stats counts notifications by outcome.
type Stats struct{ Sent, Gone, Refused, Failed, Dropped int64 }

// ByOutcome returns the counts by the names of the outcomes.
func (s Stats) ByOutcome() map[string]int64 {
	return map[string]int64{"sent": s.Sent, "gone": s.Gone, "refused": s.Refused, "failed": s.Failed, "dropped": s.Dropped}
}

// sender sends notifications. It is safe for concurrent use.
type sender struct {
	// static
	o     Options
	http  *http.Client
	all   chan struct{} // a token for each request under way
	fresh chan struct{} // a token for each request under way to a host that is not known

	sent, gone, refused, failed, dropped atomic.Int64

	mu      sync.Mutex
	hosts   map[string]*host     // guarded by mu; with notifications waiting or under way
	known   map[string]time.Time // guarded by mu; hosts that took their last notification quickly, and when
	waiting int                  // guarded by mu; notifications in the queues of all hosts

	freshHosts   int            // guarded by mu; those of hosts that are not known
	freshWaiting int            // guarded by mu; notifications in their queues
	freshOf      map[string]int // guarded by mu; how many of them each user has begun
}

// makers are the push services of browsers' makers. They are known from the start, so that nobody can take their places before their first
// notification.
var makers = []string{"fcm.googleapis.com:443", "updates.push.services.mozilla.com:443", "web.push.apple.com:443"}

// host holds the notifications that wait for one host, which is the host and port of a push service.
type host struct {
	queue   []delivery // guarded by sender.mu
	workers int        // guarded by sender.mu
	fresh   bool       // guarded by sender.mu; the host is not known
	user    string     // guarded by sender.mu; the user whose notification was the first
}

type delivery struct {
	to   chat.Subscription
	note note
}

func newSender(o Options) *sender {
	client := o.HTTP
	if client == nil {
		client = dial.NewClient(dial.Options{
			Allowed: func(hostPort string) bool {
				name, _, err := net.SplitHostPort(hostPort)
				return err == nil && slices.Contains(o.Allowed, name)
			},
			Port: 443, Setting: "HONGBAO_PUSH_ALLOW", Timeout: requestTimeout, PerHost: perKnownHost, Header: mostHeader,
		})
	}
	s := &sender{
		o: o, http: client, all: make(chan struct{}, slots), fresh: make(chan struct{}, newSlots), hosts: map[string]*host{}, known: map[string]time.Time{}, freshOf: map[string]int{},
	}
	for _, name := range makers {
		s.known[name] = time.Now()
	}
	return s
}

func (s *sender) stats() Stats {
	return Stats{Sent: s.sent.Load(), Gone: s.gone.Load(), Refused: s.refused.Load(), Failed: s.failed.Load(), Dropped: s.dropped.Load()}
}

// send queues a notification. It never blocks: if too many notifications wait for the host, or in all, the notification is
// dropped. When ctx ends, the notifications that still wait are not sent.
func (s *sender) send(ctx context.Context, to chat.Subscription, n note) {
	name, err := s.o.hostOf(to.Endpoint)
	if err != nil {
		s.refused.Add(1)
		s.o.Log.Debug("push endpoint refused", "user", to.User, "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h, workers, most := s.hosts[name], perHost, mostQueued
	_, known := s.known[name]
	if known {
		workers, most = perKnownHost, mostKnownQueued
	}
	switch {
	case s.waiting >= mostWaiting, h != nil && len(h.queue) >= most, !known && s.freshWaiting >= mostFreshWaiting,
		h == nil && !known && (s.freshHosts >= mostHosts || s.freshOf[to.User] >= mostHostsOfUser):
		s.dropped.Add(1)
		return
	case h == nil:
		h = &host{user: to.User}
		s.hosts[name] = h
		s.countLocked(h, !known)
	}
	h.queue = append(h.queue, delivery{to, n})
	s.waiting++
	if h.fresh {
		s.freshWaiting++
	}
	if h.workers < workers {
		h.workers++
		go s.work(ctx, name, h)
	}
}

// countLocked counts the host among those that are not known, or no longer.
func (s *sender) countLocked(h *host, fresh bool) {
	if h.fresh == fresh {
		return
	}
	h.fresh = fresh
	by := 1
	if !fresh {
		by = -1
	}
	s.freshHosts += by
	s.freshWaiting += by * len(h.queue)
	if s.freshOf[h.user] += by; s.freshOf[h.user] == 0 {
		delete(s.freshOf, h.user)
	}
}

// hostOf returns the host and port of an endpoint, or an error if the endpoint must not be called.
func (o Options) hostOf(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", errors.New("endpoint is no URL")
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
	name := net.JoinHostPort(u.Hostname(), port)
	if slices.Contains(o.Allowed, u.Hostname()) || u.Scheme == "https" && port == "443" {
		return name, nil
	}
	return "", fmt.Errorf("endpoint at %s with scheme %q: need https and port 443, or name the host in HONGBAO_PUSH_ALLOW", name, u.Scheme)
}

// work sends the notifications that wait for the host, until its queue is empty.
func (s *sender) work(ctx context.Context, name string, h *host) {
	for {
		d, ok := s.next(name, h)
		if !ok {
			return
		}
		slot := s.acquire(ctx, name)
		if slot == nil {
			s.dropped.Add(1)
			continue
		}
		s.deliver(ctx, name, d)
		slot()
	}
}

// next takes the oldest delivery out of the host's queue. If the queue is empty, next counts the calling worker as ended.
func (s *sender) next(name string, h *host) (d delivery, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(h.queue) == 0 {
		if h.workers--; h.workers == 0 {
			delete(s.hosts, name)
			s.countLocked(h, false)
		}
		return d, false
	}
	d, h.queue = h.queue[0], h.queue[1:]
	s.waiting--
	if h.fresh {
		s.freshWaiting--
	}
	return d, true
}

// acquire waits for the slots of a request to the host, and returns the function that frees them. It returns nil if ctx ends.
func (s *sender) acquire(ctx context.Context, name string) func() {
	s.mu.Lock()
	_, known := s.known[name]
	s.mu.Unlock()
	needed := []chan struct{}{s.fresh, s.all}
	if known {
		needed = needed[1:]
	}
	for i, slot := range needed {
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			if i > 0 {
				<-needed[0]
			}
			return nil
		}
	}
	return func() {
		for _, slot := range needed {
			<-slot
		}
	}
}

// deliver sends one notification. A notification that the push service does not take is not sent again: the user finds the
// entry in the room.
func (s *sender) deliver(ctx context.Context, name string, d delivery) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	began := time.Now()
	status, err := s.post(ctx, d)
	switch {
	case err != nil:
		s.forget(name)
		s.failed.Add(1)
	case status == http.StatusNotFound || status == http.StatusGone:
		s.gone.Add(1)
		err = s.o.Store.DeleteSubscription(ctx, d.to)
	case status >= 200 && status < 300:
		if time.Since(began) <= fastAnswer {
			s.remember(name)
		} else {
			s.forget(name)
		}
		s.sent.Add(1)
		return
	default:
		s.refused.Add(1)
		err = fmt.Errorf("status %d", status)
	}
	if err != nil {
		s.o.Log.Debug("push not delivered", "user", d.to.User, "host", name, "err", err)
	}
}

func (s *sender) post(ctx context.Context, d delivery) (status int, err error) {
	to := vapid.Subscription{Endpoint: d.to.Endpoint, Keys: vapid.Keys{P256dh: base64url(d.to.P256dh), Auth: base64url(d.to.Auth)}}
	answer, err := vapid.SendNotificationWithContext(ctx, d.note.payload, &to, &vapid.Options{
		HTTPClient: s.http, RecordSize: recordSize, Subscriber: strings.TrimPrefix(s.o.Contact, "mailto:"), // the library adds the prefix
		Topic: d.note.topic, TTL: int(d.note.ttl.Seconds()), Urgency: vapid.UrgencyHigh,
		VAPIDPublicKey: s.o.Keys.Public, VAPIDPrivateKey: s.o.Keys.Private,
	})
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the endpoint, which is a secret
		}
		return 0, err
	}
	_, _ = io.CopyN(io.Discard, answer.Body, mostBody) // only the status counts
	_ = answer.Body.Close()
	return answer.StatusCode, nil
}

// remember makes the host a known one: it has taken a notification quickly. If there are too many known hosts, the one is forgotten that
// has taken none for longest.
func (s *sender) remember(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[name]; !ok && len(s.known) >= mostKnown {
		oldest := ""
		for other, at := range s.known {
			if oldest == "" || at.Before(s.known[oldest]) {
				oldest = other
			}
		}
		s.forgetLocked(oldest)
	}
	s.known[name] = time.Now()
	if h := s.hosts[name]; h != nil {
		s.countLocked(h, false)
	}
}

// forget makes the host one that is not known: it gets fewer slots until it takes a notification quickly.
func (s *sender) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(name)
}

func (s *sender) forgetLocked(name string) {
	delete(s.known, name)
	if h := s.hosts[name]; h != nil {
		s.countLocked(h, true)
	}
}
