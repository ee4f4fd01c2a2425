package web

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/user/admission"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// The WebSocket subprotocols, one for each encoding.
const (
	subprotocolJSON     = "centrifuge-json"
	subprotocolProtobuf = "centrifuge-protobuf"
)

// newUpgrader returns an upgrader. To keep idle sockets small, it takes write buffers from a pool, and reads through the small
// buffer of hub.Pollable.
func newUpgrader(o origins) websocket.Upgrader {
	return websocket.Upgrader{
		HandshakeTimeout: 5 * time.Second,
		WriteBufferPool:  &sync.Pool{},
		Subprotocols:     []string{subprotocolProtobuf, subprotocolJSON},
		CheckOrigin:      o.allowed,
		Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
			http.Error(w, reason.Error(), status)
		},
	}
}

// serveSocket upgrades a request and passes the socket to the hub. It keeps no reference to the request.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		refuseForNow(w, time.Second) // so that the client tries another instance
		return
	}
	if retry, full := s.connects.full(); full {
		s.connects.refused.Add(1)
		refuseForNow(w, retry)
		return
	}
	if !r.ProtoAtLeast(1, 1) { // RFC 6455, 4.2.1; the upgrader does not check it
		http.Error(w, "a websocket needs HTTP/1.1", http.StatusBadRequest)
		return
	}
	offered := websocket.Subprotocols(r)
	if len(offered) > 0 && !slices.ContainsFunc(offered, func(p string) bool { return slices.Contains(s.upgrader.Subprotocols, p) }) {
		http.Error(w, "unknown subprotocol", http.StatusBadRequest)
		return
	}
	if !s.origins.allowed(r) { // the upgrader checks it, too; here it is refused before it counts against the visitor's address
		http.Error(w, "request origin not allowed", http.StatusForbidden)
		return
	}
	from := subnet(s.proxies.client(r))
	switch s.sockets.Enter(from) {
	case admission.TooMany:
		refuseForNow(w, fullRetry)
		return
	case admission.TooManyOfAddress:
		s.refuse(w, &chat.RateError{After: fullRetry})
		return
	}
	attached := false
	defer func() {
		if !attached {
			s.sockets.Leave(from)
		}
	}()
	if err := s.rates.SpendHandshake(r.Context(), from); err != nil {
		s.refuse(w, err)
		return
	}
	var upgrade *auth.Identity
	if token, ok := auth.Bearer(r); ok {
		identity, err := s.authenticate(r.Context(), r, token)
		if err != nil {
			s.refuse(w, err)
			return
		}
		upgrade = &identity
	}
	encoding := hub.JSON
	if r.URL.Query().Get("cf_protocol") == "protobuf" {
		encoding = hub.Protobuf
	}
	ws, err := s.upgrader.Upgrade(hub.Pollable(w), r, nil)
	if err != nil {
		return // the upgrader has sent the response
	}
	if ws.Subprotocol() == subprotocolProtobuf {
		encoding = hub.Protobuf
	}
	attached = true // the session calls s.sockets.Leave when the socket is closed
	s.hub.Attach(ws, encoding, func(c *hub.Conn) hub.Handler { return s.sessions.NewSession(c, from, upgrade) })
}

// ConnState bounds the connections of clients. It is for http.Server.ConnState of the server that serves Handler.
func (s *Server) ConnState(conn net.Conn, state http.ConnState) {
	closed := s.conns.Changed(conn, state)
	if closed.Closed == 0 {
		return
	}
	if unlogged, due := s.connEnds.next(s.o.Now()); due {
		s.o.Log.Warn("too many connections: closed some", "address", closed.Holder, "open", closed.Connections, "closed", closed.Closed, "unlogged", unlogged)
	}
}

// fullRetry is the wait that a client is told when there are too many sockets.
const fullRetry = 5 * time.Second

// refuseForNow responds, before the upgrade, that the server accepts no socket at the moment, and when to retry.
func refuseForNow(w http.ResponseWriter, retry time.Duration) {
	w.Header().Set("Retry-After", strconv.FormatInt(roundedUp(retry, time.Second), 10))
	writeError(w, wire.NewError(wire.CodeUnavailable))
}

// connectLimiter limits how many connect commands run concurrently, so that none takes too long when many clients
// reconnect at once. The others wait in a queue. While the queue is full, new sockets are refused before the upgrade.
// A socket whose connect command has been answered takes no slot.
type connectLimiter struct {
	// static after newConnectLimiter
	slots   chan struct{} // holds one value for each running connect
	maxWait time.Duration // the queue is full while the expected wait exceeds this

	waiting atomic.Int64 // connects that wait for a slot
	refused atomic.Int64 // sockets refused before the upgrade

	mu      sync.Mutex
	average time.Duration // guarded by mu; moving average of how long a connect takes
}

const (
	// connectSlots is more than a store with its default settings works on concurrently.
	connectSlots = 32
	// maxConnectWait must be below 5 s, after which SDKs give up on a connect.
	maxConnectWait = 3 * time.Second
	// averageWeight is the weight of the moving average: the newest connect counts for 1/16.
	averageWeight = 16
)

func newConnectLimiter(slots int, maxWait time.Duration) *connectLimiter {
	return &connectLimiter{slots: make(chan struct{}, slots), maxWait: maxWait}
}

// acquire waits for a slot, for at most 4/3 of maxWait. The caller must call release when the connect has ended.
func (l *connectLimiter) acquire(ctx context.Context) (release func(), err error) {
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, l.maxWait+l.maxWait/3)
	defer cancel()
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("too many connects at once: %w", chat.ErrUnavailable)
	}
	began := time.Now()
	return func() {
		<-l.slots
		l.mu.Lock()
		defer l.mu.Unlock()
		l.average += (time.Since(began) - l.average) / averageWeight
	}, nil
}

// queued reports whether any connect waits for a slot.
func (l *connectLimiter) queued() bool { return l.waiting.Load() > 0 }

// full reports whether the queue is full. retry is the wait to tell a refused client: the expected wait with random
// jitter, so that refused clients do not all return together.
func (l *connectLimiter) full() (retry time.Duration, full bool) {
	waiting := l.waiting.Load()
	if waiting == 0 {
		return 0, false
	}
	l.mu.Lock()
	wait := time.Duration(waiting) * l.average / time.Duration(cap(l.slots))
	l.mu.Unlock()
	return wait + rand.N(wait+time.Second), wait > l.maxWait //nolint:gosec // jitter
}
