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
	"hongbao/web/auth"
	"hongbao/web/wire"
)

// The WebSocket subprotocols, one for each encoding.
const (
	subprotocolJSON     = "centrifuge-json"
	subprotocolProtobuf = "centrifuge-protobuf"
)

// newUpgrader returns an upgrader. To keep idle sockets small, it gives them no read buffer of their own and takes
// write buffers from a pool.
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
	s.hub.Attach(ws, encoding, func(c *hub.Conn) hub.Handler { return s.sessions.NewSession(c, upgrade) })
}

// refuseForNow responds, before the upgrade, that the server accepts no socket at the moment, and when to retry.
func refuseForNow(w http.ResponseWriter, retry time.Duration) {
	w.Header().Set("Retry-After", strconv.FormatInt(roundedUp(retry, time.Second), 10))
	writeError(w, wire.NewError(wire.CodeUnavailable))
}

// originAllowed reports whether a page of this origin may open a socket. Clients other than browsers send no origin and
// may.
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

// originListed reports whether the operator's configuration allows this origin.
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
