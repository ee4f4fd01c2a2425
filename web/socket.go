package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
	"hongbao/web/wire"
)

// The subprotocols, one for each encoding.
const (
	subprotocolJSON     = "centrifuge-json"
	subprotocolProtobuf = "centrifuge-protobuf"
)

// newUpgrader keeps idle sockets small: the hub's read buffer, and write buffers lent from a pool.
func (s *Server) newUpgrader() websocket.Upgrader {
	return websocket.Upgrader{
		HandshakeTimeout: 5 * time.Second,
		WriteBufferPool:  &sync.Pool{},
		Subprotocols:     []string{subprotocolProtobuf, subprotocolJSON},
		CheckOrigin:      s.originAllowed,
		Error: func(w http.ResponseWriter, _ *http.Request, status int, reason error) {
			http.Error(w, reason.Error(), status)
		},
	}
}

// serveSocket upgrades a request and hands the socket over to the hub; nothing of the request is kept.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		sendAway(w, time.Second) // to another instance
		return
	}
	if retry, full := s.lobby.full(); full {
		s.lobby.refused.Add(1)
		sendAway(w, retry)
		return
	}
	if !r.ProtoAtLeast(1, 1) { // RFC 6455, 4.2.1; the upgrader does not look
		http.Error(w, "a websocket needs HTTP/1.1", http.StatusBadRequest)
		return
	}
	offered := websocket.Subprotocols(r)
	if len(offered) > 0 && !slices.ContainsFunc(offered, func(p string) bool { return slices.Contains(s.upgrader.Subprotocols, p) }) {
		http.Error(w, "unknown subprotocol", http.StatusBadRequest)
		return
	}
	var bearerOf *identity
	if token, ok := bearer(r); ok {
		who, err := s.authenticate(r.Context(), r, token)
		if err != nil {
			s.refuse(w, err)
			return
		}
		bearerOf = &who
	}
	encoding := hub.JSON
	if r.URL.Query().Get("cf_protocol") == "protobuf" {
		encoding = hub.Protobuf
	}
	ws, err := s.upgrader.Upgrade(hub.Audible(w), r, nil)
	if err != nil {
		return // the upgrader has answered
	}
	if ws.Subprotocol() == subprotocolProtobuf {
		encoding = hub.Protobuf
	}
	s.hub.Attach(ws, encoding, func(c *hub.Conn) hub.Handler { return newSession(s, c, bearerOf) })
}

// sendAway answers before the upgrade that there is no place now, and when to come again.
func sendAway(w http.ResponseWriter, retry time.Duration) {
	w.Header().Set("Retry-After", strconv.FormatInt(roundedUp(retry, time.Second), 10))
	writeError(w, wire.NewError(wire.CodeUnavailable))
}

// originAllowed tells whether a page of this origin may connect. What is no browser sends none.
func (s *Server) originAllowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	if u, err := url.Parse(origin); err == nil && u.Host != "" && strings.EqualFold(u.Host, s.proxies.host(r)) {
		return true
	}
	return s.originListed(origin)
}

// originListed tells whether the origin is another one that the operator allows.
func (s *Server) originListed(origin string) bool {
	_, ok := s.origins[strings.ToLower(origin)]
	return ok
}

func originSet(list []string) map[string]struct{} {
	set := make(map[string]struct{}, len(list))
	for _, origin := range list {
		set[strings.ToLower(strings.TrimRight(strings.TrimSpace(origin), "/"))] = struct{}{}
	}
	return set
}
