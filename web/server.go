package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/gorilla/websocket"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// Options of a Server. The zero value believes no tokens at all, so give it a JWT key or a guest key.
type Options struct {
	JWT            JWT
	Guests         Guests
	AllowedOrigins []string // besides the server's own host, as "https://example.com"
	Currency       wire.Currency
	Version        string
	TrustedProxies []netip.Prefix              // whose word about clients is believed
	Presence       chat.Presence               // who has a socket on whatever instance; required
	Rates          bool                        // keep rates, for which Local is required
	Local          chat.Limiter                // of this instance alone
	Limiter        chat.Limiter                // of all instances; nil: there is only this one
	SocketsPerUser int                         // over all instances; the oldest goes
	Alone          bool                        // there is no other instance
	Ready          func(context.Context) error // are the engines reachable
	Now            func() time.Time
	Log            *slog.Logger

	ConnectWithin time.Duration // from the upgrade to the connect command; 8 s
	RefreshGrace  time.Duration // from a token's end to the close of its sockets; 25 s
}

// Server is the door: everything that comes over HTTP and over sockets.
type Server struct {
	// static after New
	hub      *hub.Hub
	chat     *chat.Service
	packets  *redpacket.Service
	o        Options
	tokens   *verifier
	proxies  proxies
	rates    *rates
	started  time.Time
	origins  map[string]struct{} // allowed besides our own host
	upgrader websocket.Upgrader
	pub      *Publisher
	metrics  *metrics

	sockets    sockets
	attendance *attendance
	lobby      *lobby
	rechecks   *rechecks
	draining   atomic.Bool
	outages    outages
}

// New makes a server over a hub and the two services that publish to it through pub. It is the hub's ear for what
// other instances say.
func New(h *hub.Hub, pub *Publisher, rooms *chat.Service, packets *redpacket.Service, o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	o.Currency = cmp.Or(o.Currency, wire.Currency{Code: "CNY", Exponent: 2})
	o.SocketsPerUser = cmp.Or(o.SocketsPerUser, wire.DefaultLimits().SocketsPerUser)
	o.Log = cmp.Or(o.Log, slog.Default())
	o.ConnectWithin = cmp.Or(o.ConnectWithin, 8*time.Second)
	o.RefreshGrace = cmp.Or(o.RefreshGrace, 25*time.Second)
	if o.Rates && o.Local == nil {
		return nil, errors.New("web: rates need a limiter of this instance")
	}
	tokens, err := newVerifier(o.JWT, o.Guests.Key, o.Now, o.Log)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	s := &Server{
		hub: h, pub: pub, chat: rooms, packets: packets, o: o, tokens: tokens,
		proxies: o.TrustedProxies, rates: newRates(o), started: o.Now(),
		origins: originSet(o.AllowedOrigins), sockets: sockets{first: map[string]*session{}},
	}
	s.lobby = newLobby(connectPlaces, longestLine)
	comings := newComings(o.Presence, rooms.CameOrWent, s.lobby.crowded, o.Log)
	s.attendance = newAttendance(o.Presence, o.SocketsPerUser, s.pushOut, comings, o.Log)
	s.rechecks = newRechecks(s.recheck, o.Log)
	h.SetPeers(s)
	s.upgrader = s.newUpgrader()
	s.metrics = newMetrics(s)
	return s, nil
}

// Handler serves clients: sockets, commands, guests, administration and the page.
func (s *Server) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(harden)
	r.Route("/v1", func(r chi.Router) {
		r.Use(s.cors)
		r.Get("/socket", s.serveSocket)
		r.Post("/commands/{method}", s.serveCommand)
		r.Post("/guests", s.serveGuests)
		r.Post("/admin/credit", s.serveAdmin("credit"))
		r.Post("/admin/debit", s.serveAdmin("debit"))
		r.Post("/admin/disconnect", s.serveAdmin("disconnect"))
		r.Get("/admin/audit", s.serveAdmin("audit"))
		r.Get("/admin/stats", s.serveAdmin("stats"))
		r.Get("/openapi.json", document(openAPI(s.o.Version)))
		r.Get("/asyncapi.json", document(asyncAPI(s.o.Version)))
		r.NotFound(func(w http.ResponseWriter, _ *http.Request) { writeError(w, wire.NewError(wire.CodeNotFound)) })
	})
	r.Handle("/*", s.page())
	return r
}

// Drain stops accepting sockets and closes those there are, spread over the window; their clients come back
// elsewhere. It returns when all are gone or ctx is done.
func (s *Server) Drain(ctx context.Context, window time.Duration) error {
	s.draining.Store(true)
	bye := wire.CloseFor(wire.CloseDrain)
	return s.hub.Drain(ctx, window, bye.Code, bye.Reason)
}
