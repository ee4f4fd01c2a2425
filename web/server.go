package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/gorilla/websocket"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/redpacket/meter"
	"hongbao/web/ops"
	"hongbao/web/ops/metrics"
	"hongbao/web/page"
	"hongbao/web/spec"
	"hongbao/web/user/admission"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/user/guest"
	"hongbao/web/user/presence"
	"hongbao/web/user/push"
	"hongbao/web/user/session"
	"hongbao/web/user/webpush"
	"hongbao/web/wire"
)

// Options of a Server. The zero value accepts no token, so set a JWT key or a guest key.
type Options struct {
	JWT            auth.JWT
	Guests         Guests
	Lobby          func() page.Lobby // nil: there is none
	NoPictures     bool              // users may upload no pictures
	Skins          []page.Skin       // drawings on envelopes that the host brings
	AllowedOrigins []string          // origins such as "https://example.com", besides the server's own host
	Currency       wire.Currency
	Version        string
	Build          metrics.Build        // for the metrics
	Engines        func() meter.Engines // what the engines measure, for the metrics; nil: nothing
	TrustedProxies []netip.Prefix       // proxies whose headers about clients are believed
	Presence       chat.Presence        // directory of the sockets of all instances; required
	Rates          bool                 // turns rate limits on; then Local is required
	Local          chat.Limiter         // counts on this instance only
	Limiter        chat.Limiter         // counts over all instances; nil: this is the only instance
	ContactRates   ContactRates         // rates of the commands by which users reach others
	Scans          int                  // how many commands that read very many rows (scans) may run at once; default 2
	ReadWait       time.Duration        // scans are refused while their expected wait is longer than this; 0: none is refused; only with Rates
	MaxReplyBytes  int64                // same value as hub.Options.ReplyBytes; replies over HTTP may use a quarter; default 256 MiB
	MaxConns       int                  // connections of clients on this instance, sockets too; 0: any number; ConnState counts them
	MaxSockets     int                  // on this instance; 0: any number
	MaxPerAddress  int                  // sockets of one address on this instance, and other connections of one; 0: any number; only with Rates
	SocketsPerUser int                  // over all instances; if there are more, the user's oldest socket is closed; default 10
	Alone          bool                 // there is no other instance
	Ops            ops.Options
	Security       Security                 // nil: nothing is recorded
	Push           *webpush.Notifier        // sends notifications; nil: there is no Web Push
	Files          *files.Service           // nil: there are no files
	FileDay        int64                    // bytes of files that a user may upload a day; 0: any number
	FileOrigin     string                   // where browsers read files, if that is not this server: see files.Service.Origin
	Trail          Trail                    // nil: refused grabs and ends of sockets are not kept
	Events         func() metrics.Events    // figures of the event stream, for the metrics; nil: none
	Hooks          api.Hooks                // ask the host about commands of users before they are carried out; nil: the host is not asked
	HookStats      func() []meter.Questions // figures of Hooks, for the metrics; nil: none
	Now            func() time.Time
	Log            *slog.Logger

	ConnectWithin  time.Duration // time allowed from the upgrade to the connect command; default 8 s
	RefreshGrace   time.Duration // time from the expiry of a token to the close of its sockets; default 25 s
	StandingWithin time.Duration // time that a session waits to learn its user's standing to a room; default 1 s
}

// ContactRates limits the commands by which users reach others.
type ContactRates = api.ContactRates

// ContactRate limits one command by which users reach others.
type ContactRate = api.ContactRate

// Server serves HTTP and sockets.
type Server struct {
	// static after New
	hub      *hub.Hub
	chat     *chat.Service
	packets  *redpacket.Service
	o        Options
	tokens   *auth.Verifier
	guests   *guest.Service
	proxies  proxies
	rates    *api.Rates
	commands *api.Commands
	unpaced  *api.Commands // runs commands for the host, without rates and hooks
	sessions *session.Manager
	started  time.Time
	origins  origins
	upgrader websocket.Upgrader
	pub      *push.Publisher
	metrics  *metrics.Metrics
	tracker  *presence.Tracker
	uploads  *uploads
	bounds
	errors   *errorCodes
	notAdmin rareLines
	connEnds rareLines // lines about connections that were closed because there were too many

	stopping atomic.Bool // /readyz answers 503
	draining atomic.Bool // new sockets are refused
}

// httpShare is the divisor of Options.MaxReplyBytes that gives the bound of replies over HTTP: a quarter. Once all unread
// replies use half of MaxReplyBytes, sockets with any unread reply must wait (hub.Conn.Behind). Replies over HTTP alone must
// not cause that.
const httpShare = 4

// New returns a server that uses the hub and the two services. The services must publish through pub. The caller gives the server's
// Peers to the hub, and the rooms to pub (push.Publisher.CacheStandings).
func New(h *hub.Hub, pub *push.Publisher, rooms *chat.Service, packets *redpacket.Service, o Options) (*Server, error) {
	if o.Rates && o.Local == nil {
		return nil, errors.New("web: rates need a limiter of this instance")
	}
	o = o.withDefaults()
	tokens, err := auth.NewVerifier(o.JWT, auth.GuestKeys{Key: o.Guests.Key, Previous: o.Guests.PreviousKey}, o.Now, o.Log)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	proxies, origins := proxies(o.TrustedProxies), newOrigins(o.AllowedOrigins, o.TrustedProxies)
	bounds := bounds{
		connects: newConnectLimiter(connectSlots, maxConnectWait),
		conns:    admission.NewConnections(o.MaxConns, o.MaxPerAddress, h.Connections, proxies.holder),
		sockets:  admission.NewSockets(o.MaxSockets, o.MaxPerAddress),
		replies:  admission.NewReplies(o.MaxReplyBytes/httpShare, h.CountReplies),
	}
	tracker := presence.New(presence.Options{
		Directory: o.Presence, MaxSockets: o.SocketsPerUser,
		CloseSocket: func(user, socket string) { pub.CloseSockets(user, socket, wire.ClosePushedOut) },
		Announce:    rooms.AnnouncePresence, Paused: bounds.connects.queued, Log: o.Log,
	})
	rates := api.NewRates(o.Local, o.Limiter, o.Now, o.Log)
	config := api.Config{
		Chat: rooms, Packets: packets, Rates: rates, ContactRates: o.ContactRates, Scans: o.Scans, ScanWait: o.ReadWait, Log: o.Log,
		Connected: func(user string) bool { return h.Listeners(push.UserTopic(user)) > 0 }, Hooks: o.Hooks,
		Files: o.Files, FileDay: o.FileDay,
	}
	failures := &errorCodes{log: o.Log}
	opened, ended := func(string, string) {}, func(string, string, int, bool) {}
	if o.Trail != nil {
		config.Refused = refusals{o.Trail, failures}.note
		opened, ended = o.Trail.SocketOpened, o.Trail.SocketEnded
	}
	if o.Push != nil {
		config.Push = api.Push{Key: o.Push.Key(), CheckEndpoint: o.Push.CheckEndpoint}
	}
	commands := api.New(config)
	config.Rates, config.ContactRates, config.Hooks = new(api.Rates), ContactRates{}, nil
	figures := newMetrics(h, rooms, packets, commands, bounds, o)
	sessions := session.NewManager(session.Config{
		Hub: h, Chat: rooms, Packets: packets, Commands: commands, Presence: tracker, Errors: failures,
		Verify: tokens.Verify, Rates: rates, Refused: func(address string) { o.Security.Count(CountUnauthorized, address) }, SocketClosed: bounds.sockets.Leave,
		Opened: opened, Ended: ended,
		AcquireConnect: bounds.connects.acquire, Observe: figures.Command,
		Node: pub.Node(), Alone: o.Alone, Paced: o.Rates, Version: o.Version, Currency: o.Currency, Limits: limits(commands, o),
		ConnectWithin: o.ConnectWithin, RefreshGrace: o.RefreshGrace, StandingWithin: o.StandingWithin,
		Now: o.Now, Log: o.Log,
	})
	return &Server{
		hub: h, pub: pub, chat: rooms, packets: packets, o: o, tokens: tokens, guests: guest.New(rooms, packets, o.Guests, o.Now),
		proxies: proxies, origins: origins, upgrader: newUpgrader(origins), rates: rates, commands: commands, unpaced: api.New(config),
		sessions: sessions, started: o.Now(), metrics: figures, tracker: tracker, bounds: bounds, errors: failures, uploads: newUploads(),
	}, nil
}

// withDefaults returns the options with the defaults in place of what is not set. Without Rates, the options that need it are off.
func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Engines == nil {
		o.Engines = func() meter.Engines { return meter.Engines{} }
	}
	if o.Security == nil {
		o.Security = noSecurity{}
	}
	if !o.Rates {
		o.Local, o.MaxPerAddress, o.ReadWait = nil, 0, 0
	}
	o.Currency = cmp.Or(o.Currency, wire.Currency{Code: "CNY", Exponent: 2})
	o.SocketsPerUser = cmp.Or(o.SocketsPerUser, wire.DefaultLimits().SocketsPerUser)
	o.MaxReplyBytes = cmp.Or(o.MaxReplyBytes, 256<<20)
	o.Log = cmp.Or(o.Log, slog.Default())
	o.ConnectWithin = cmp.Or(o.ConnectWithin, 8*time.Second)
	o.RefreshGrace = cmp.Or(o.RefreshGrace, 25*time.Second)
	o.StandingWithin = cmp.Or(o.StandingWithin, time.Second)
	return o
}

// bounds are what the server bounds: connects at a time, connections, sockets, and replies over HTTP that clients have not taken.
type bounds struct {
	connects *connectLimiter
	conns    *admission.Connections
	sockets  *admission.Sockets
	replies  *admission.Replies
}

// Peers returns the part of the server that receives the notices of other instances, and learns when the bus is lost. Give it to the
// hub (SetPeers).
func (s *Server) Peers() hub.Peers { return s.sessions }

// Handler serves clients: sockets, commands, previews of invite links and public rooms, guests, pictures, admin commands, the OpenAPI and AsyncAPI
// documents, and the page.
func (s *Server) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(s.origins.harden)
	r.Route("/v1", func(r chi.Router) {
		r.Use(s.origins.cors)
		r.Get("/socket", s.serveSocket)
		r.Post("/commands/{method}", s.serveCommand)
		r.Post("/links/preview", open(s, "preview_link", true, s.rates.SpendPreview, s.previewLink))
		r.Post("/rooms/preview", open(s, "preview_room", true, s.rates.SpendPreview, s.previewRoom))
		r.Post("/guests", open(s, "guests", s.guests.On(), s.rates.SpendGuest, s.guests.Make))
		r.Post("/guests/renew", s.byGuest("renew", s.renewGuest))
		r.Post("/guests/sign_out", s.byGuest("sign_out", s.signOutGuest))
		r.Post("/guests/profile", s.byGuest("profile", s.changeGuestProfile))
		r.Post("/guests/device_code", s.byGuest("device_code", s.newDeviceCode))
		r.Post("/guests/redeem", open(s, "redeem", s.guests.On(), s.rates.SpendGuest, s.guests.Redeem))
		r.Post("/picture", s.setPicture)
		r.Post("/files/{room}/{file}", s.serveUpload)
		r.Get("/files/{room}/{file}/{version}", s.serveDownload)
		r.Get("/packets/{packet}/proof", s.serveProof)
		r.Get("/receipt-keys", s.serveReceiptKeys)
		r.Post("/admin/credit", s.serveAdmin("credit"))
		r.Post("/admin/debit", s.serveAdmin("debit"))
		r.Post("/admin/disconnect", s.serveAdmin("disconnect"))
		r.Get("/admin/audit", s.serveAdmin("audit"))
		r.Post("/admin/audit", s.serveAdmin("start_audit"))
		r.Get("/admin/heads", s.serveAdmin("heads"))
		r.Get("/admin/stats", s.serveAdmin("stats"))
		r.Get("/openapi.json", serveDocument(spec.OpenAPI, s.o.Version))
		r.Get("/asyncapi.json", serveDocument(spec.AsyncAPI, s.o.Version))
		r.NotFound(func(w http.ResponseWriter, _ *http.Request) { writeError(w, wire.NewError(wire.CodeNotFound)) })
	})
	r.Get("/pictures/{name}", s.servePicture)
	r.Handle("/*", page.Handler(s.pageFacts(), s.o.Lobby))
	return r
}

func (s *Server) pageFacts() page.Facts {
	hosts := slices.AppendSeq([]string{}, maps.Keys(s.origins.listed)) // an empty list, never null
	slices.Sort(hosts)
	guests := s.guests.On()
	return page.Facts{Guests: guests, Pictures: !s.o.NoPictures, PlayMoney: guests && s.o.Guests.Credit > 0, Hosts: hosts, FileOrigin: s.o.FileOrigin, Skins: s.o.Skins, Version: s.o.Version}
}

// limits returns the limits that the server tells its clients.
func limits(commands *api.Commands, o Options) wire.Limits {
	l := commands.Limits()
	l.SocketsPerUser = o.SocketsPerUser
	return l
}

// Call runs one command of a user. It returns the data of the reply, as JSON.
func (s *Server) Call(ctx context.Context, c api.Caller, method string, data []byte) (reply []byte, err error) {
	return run(ctx, s.commands, c, method, data)
}

// CallFor runs one command for a user on behalf of the host, which says what person the user is. Rates and hooks do not apply. It returns the data of the reply, as
// JSON.
func (s *Server) CallFor(ctx context.Context, u chat.User, person, method string, data []byte) (reply []byte, err error) {
	work := func() ([]byte, error) { return run(ctx, s.unpaced, api.Caller{User: u, Person: person}, method, data) }
	if method == api.MethodGrab {
		return inTime(ctx, s.o.Log, work)
	}
	return work()
}

func run(ctx context.Context, commands *api.Commands, c api.Caller, method string, data []byte) (reply []byte, err error) {
	request := api.NewRequest(method, data)
	end, err := commands.Begin(ctx, c, &request)
	if err != nil {
		return nil, err
	}
	if end != nil {
		defer end()
	}
	return encode(commands.Answer(ctx, c, &request))
}

func encode(reply any, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return wire.Marshal(reply)
}

// Disconnect closes all sockets of the user, on every instance, with the close code for a revoked token. It does not revoke
// the user's tokens.
func (s *Server) Disconnect(user string) {
	s.pub.CloseSockets(user, "", wire.CloseRevoked)
}

// DisconnectSuspended closes all sockets of the user, on every instance, with the close code for a suspended user. It does not
// suspend the user.
func (s *Server) DisconnectSuspended(user string) {
	s.pub.CloseSockets(user, "", wire.CloseSuspended)
}

// Renamed makes the user's open sockets on this instance take the name and the avatar that are stored now. Other instances do so
// when they receive the notice of the change (chat.Publisher.StandingChanged).
func (s *Server) Renamed(ctx context.Context, user string) { s.sessions.Renamed(ctx, user) }

// Run maintains the presence of this instance's sockets, rechecks sessions and refreshes the host's keys. It returns when ctx is
// done, or with the error of Options.Presence.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { s.tracker.Run(ctx) })
	running.Go(func() { s.sessions.Run(ctx) })
	running.Go(func() { s.tokens.Run(ctx) })
	err := s.o.Presence.Run(ctx)
	cancel()
	running.Wait()
	return err
}

// NotReady makes /readyz answer 503, so that load balancers send clients elsewhere. New sockets are still accepted.
func (s *Server) NotReady() { s.stopping.Store(true) }

// Drain refuses new sockets and closes the open ones, at random times within the window, so that their clients connect
// to other instances. It returns when all are closed or ctx is done.
func (s *Server) Drain(ctx context.Context, window time.Duration) error {
	s.stopping.Store(true)
	s.draining.Store(true)
	c := wire.CloseFor(wire.CloseDrain)
	return s.hub.Drain(ctx, window, c.Code, c.Reason)
}
