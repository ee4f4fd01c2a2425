package webpush

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	vapid "github.com/SherClockHolmes/webpush-go"

	"hongbao/chat"
)

// Bounds of a Sender.
const (
	slots      = 64   // requests under way
	newSlots   = 32   // of them, to hosts that have never taken a notification
	perHost    = 8    // requests under way to one host
	mostQueued = 1000 // notifications that wait for one host
	mostHosts  = 2000 // hosts that have notifications waiting or under way
	mostKnown  = 1000 // hosts that have taken a notification, and are remembered
	recordSize = 1024 // bytes of each notification, so that its length tells nothing
)

// MostPayload is the size of the largest payload: a record less its header (86), tag (16) and delimiter (1), and what
// the library counts twice (16).
const MostPayload = recordSize - 86 - 16 - 1 - 16

// Options of a Sender. Keys, Subject and Remove are required.
type Options struct {
	Keys    Keys
	Subject string   // mail address or https:// of the operator, for the push services
	Allowed []string // hosts that may have private addresses, other ports than 443, and plain HTTP: "push.internal:8443"
	// Remove removes a subscription that its push service does not know any more.
	Remove func(context.Context, chat.Subscription) error
	Log    *slog.Logger

	Timeout time.Duration // of one request; default 10 s
}

// Note is a notification.
type Note struct {
	Payload []byte
	TTL     time.Duration // how long the push service keeps it for a browser that is offline
	Topic   string        // replaces a kept notification of the same topic; at most 32 characters of base64url
	Urgent  bool
}

// Stats counts notifications by what became of them.
type Stats struct{ Sent, Gone, Refused, Failed, Dropped int64 }

// Sender sends notifications. It is safe for concurrent use.
type Sender struct {
	// static
	o     Options
	http  *http.Client
	all   chan struct{} // a token for each request under way
	fresh chan struct{} // a token for each request under way to a host that has never taken a notification

	sent, gone, refused, failed, dropped atomic.Int64

	mu    sync.Mutex
	hosts map[string]*host    // guarded by mu; with notifications waiting or under way
	known map[string]struct{} // guarded by mu; have taken a notification
}

// host is what waits for one host.
type host struct {
	queue   []delivery // guarded by Sender.mu
	workers int        // guarded by Sender.mu
}

type delivery struct {
	to   chat.Subscription
	note Note
}

// NewSender returns a Sender.
func NewSender(o Options) *Sender {
	o.Timeout, o.Log = cmp.Or(o.Timeout, requestTimeout), cmp.Or(o.Log, slog.Default())
	return &Sender{
		o: o, all: make(chan struct{}, slots), fresh: make(chan struct{}, newSlots), hosts: map[string]*host{}, known: map[string]struct{}{},
		http: &http.Client{
			Transport:     newTransport(o.Allowed),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Stats returns what became of the notifications so far.
func (s *Sender) Stats() Stats {
	return Stats{Sent: s.sent.Load(), Gone: s.gone.Load(), Refused: s.refused.Load(), Failed: s.failed.Load(), Dropped: s.dropped.Load()}
}

// Send queues a notification. It never blocks: if too many wait for the host, the notification is dropped. When ctx ends, what waits
// is dropped.
func (s *Sender) Send(ctx context.Context, to chat.Subscription, n Note) {
	name, err := s.hostOf(to.Endpoint)
	if err != nil {
		s.refused.Add(1)
		s.o.Log.Debug("push endpoint refused", "user", to.User, "err", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.hosts[name]
	switch {
	case h == nil && len(s.hosts) >= mostHosts, h != nil && len(h.queue) >= mostQueued:
		s.dropped.Add(1)
		return
	case h == nil:
		h = &host{}
		s.hosts[name] = h
	}
	h.queue = append(h.queue, delivery{to, n})
	if h.workers < perHost {
		h.workers++
		go s.work(ctx, name, h)
	}
}

// hostOf returns the host and port of an endpoint that may be called.
func (s *Sender) hostOf(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", errors.New("endpoint is no URL")
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
	name := u.Hostname() + ":" + port
	if slices.Contains(s.o.Allowed, name) || u.Scheme == "https" && port == "443" {
		return name, nil
	}
	return "", fmt.Errorf("endpoint at %s with scheme %q: need https and port 443, or allow the host by name", name, u.Scheme)
}

// work sends what waits for the host, until nothing does.
func (s *Sender) work(ctx context.Context, name string, h *host) {
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

// next takes the oldest delivery out of the host's queue. If there is none, the calling worker has ended.
func (s *Sender) next(name string, h *host) (d delivery, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(h.queue) == 0 {
		if h.workers--; h.workers == 0 {
			delete(s.hosts, name)
		}
		return d, false
	}
	d, h.queue = h.queue[0], h.queue[1:]
	return d, true
}

// acquire waits for the slots of a request to the host, and returns the function that frees them. It returns nil if ctx ends.
func (s *Sender) acquire(ctx context.Context, name string) func() {
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

// deliver sends one notification. What a push service does not take is not sent again: the user reads it in the room.
func (s *Sender) deliver(ctx context.Context, name string, d delivery) {
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	status, err := s.post(ctx, d)
	switch {
	case err != nil:
		s.failed.Add(1)
	case status == http.StatusNotFound || status == http.StatusGone:
		s.gone.Add(1)
		err = s.o.Remove(ctx, d.to)
	case status >= 200 && status < 300:
		s.sent.Add(1)
		s.remember(name)
		return
	default:
		s.refused.Add(1)
		err = fmt.Errorf("status %d", status)
	}
	if err != nil {
		s.o.Log.Debug("push not delivered", "user", d.to.User, "host", name, "err", err)
	}
}

func (s *Sender) post(ctx context.Context, d delivery) (status int, err error) {
	urgency := vapid.UrgencyNormal
	if d.note.Urgent {
		urgency = vapid.UrgencyHigh
	}
	answer, err := vapid.SendNotificationWithContext(ctx, d.note.Payload, subscriptionOf(d.to), &vapid.Options{
		HTTPClient: s.http, RecordSize: recordSize, Subscriber: s.o.Subject, Topic: d.note.Topic, TTL: int(d.note.TTL.Seconds()), Urgency: urgency,
		VAPIDPublicKey: s.o.Keys.Public, VAPIDPrivateKey: s.o.Keys.Private,
	})
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the endpoint, which is a secret
		}
		return 0, err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, mostBody) // the status says all
	return answer.StatusCode, nil
}

// remember records that the host has taken a notification. If too many are remembered, one of them is forgotten.
func (s *Sender) remember(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[name]; !ok && len(s.known) >= mostKnown {
		for other := range s.known {
			delete(s.known, other)
			break
		}
	}
	s.known[name] = struct{}{}
}
