package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"hongbao/chat"
	"hongbao/chat/files"
	"hongbao/redpacket"
	"hongbao/web/host/hostapi"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// Acts stores what the holders of keys do. The program implements it with a security.Recorder.
type Acts interface {
	// Record stores an act before it is carried out. After an error the act must not be carried out.
	Record(ctx context.Context, a Act) error
	// Count counts one event of a kind.
	Count(kind, origin string)
	// After returns at most limit stored acts that follow the cursor and are older than the given time, oldest first. next is
	// the cursor after the last one.
	After(ctx context.Context, cursor string, before time.Time, limit int) (acts []hostapi.Act, next string, err error)
	// Before returns at most limit stored acts that come before the cursor, newest first; "" is behind the newest. next is the cursor of the last one.
	Before(ctx context.Context, cursor string, limit int) (acts []hostapi.Act, next string, err error)
}

// Trail reads which grabs were refused, and what happened to sockets. Each method returns a page from a cursor on; next is "" at the end.
type Trail interface {
	// RefusalsOf returns those of a user, newest first.
	RefusalsOf(ctx context.Context, user, after string, limit int) (found []hostapi.Refusal, next string, err error)
	// RefusalsAt returns those of a packet, oldest first.
	RefusalsAt(ctx context.Context, packet, after string, limit int) (found []hostapi.Refusal, next string, err error)
	// SocketsOf returns what happened to sockets of a user, newest first.
	SocketsOf(ctx context.Context, user, after string, limit int) (found []hostapi.SocketEvent, next string, err error)
}

// Act is a request of the holder of a key.
type Act struct {
	Key, Client, Operation string
	Person                 string // name of the user of the console; "": a program has sent the request
	RequestID, Reason      string
	Request                []byte // JSON, without texts of users
}

// Web is the server of the clients. web.Server implements it.
type Web interface {
	// Failure converts an error of the domain to what the caller receives.
	Failure(err error) wire.Error
	// CallFor runs a command of users for a user or for chat.System, without rates and hooks. It returns the data of the reply,
	// as JSON.
	CallFor(ctx context.Context, u chat.User, person, command string, data []byte) ([]byte, error)
	// Renamed makes the user's open sockets on this instance take the name and the avatar that are stored now.
	Renamed(ctx context.Context, user string)
	// DisconnectSuspended closes the sockets of a suspended user on every instance.
	DisconnectSuspended(user string)
	// Stats returns what this instance has done since it started.
	Stats() wire.StatsReply
	// Observe records a request in the metrics.
	Observe(method string, code wire.Code, took time.Duration)
}

// Config holds what a Server uses. All fields but Log, Version and ActsAge are required.
type Config struct {
	Version string // the documents name it
	Keys    *Keys
	Acts    Acts
	Web     Web
	Local   chat.Limiter // counts on this instance only
	Chat    *chat.Service
	Packets *redpacket.Service
	Files   *files.Service // nil: there are no files

	Trail Trail
	// Charts returns figures of the last day.
	Charts func(ctx context.Context) (hostapi.ChartsReply, error)
	Log    *slog.Logger

	ActsAge time.Duration // how old an act is before it is exported; 0: 15 s
}

// Server answers the requests of hosts. Mount must not be called after Handler.
type Server struct {
	// static
	o      Config
	routes map[string]Route
	loads  loads

	stopOnce sync.Once
	stopping chan struct{} // closed by Stop
}

// New returns a server with the routes of this package.
func New(o Config) (*Server, error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	o.ActsAge = cmp.Or(o.ActsAge, actsAge)
	s := &Server{o: o, routes: map[string]Route{}, loads: loads{running: map[string]int{}}, stopping: make(chan struct{})}
	return s, s.Mount(slices.Concat(users{o}.routes(), rooms{o}.routes(), money{o}.routes(), reports{o}.routes(), privacy{o}.routes(), fileRoutes{o}.routes(), commands{o}.routes(), operation{o}.routes(), []Route{Handle("get_acts", s.getActs)}, s.documentRoutes())...)
}

// Stop closes the channel of Stopping. It may be called more than once.
func (s *Server) Stop() { s.stopOnce.Do(func() { close(s.stopping) }) }

// Stopping returns a channel that is closed when the server stops. A request that waits must then answer at once.
func (s *Server) Stopping() <-chan struct{} { return s.stopping }

// Caller is the sender of a request: the holder of an API key.
type Caller struct {
	Key       Key
	Client    netip.Addr
	Person    string // the user of the console that sends the request with the key; "": a program does
	RequestID string
	Reason    string // why the caller sends the request, for the list of acts; "": unknown
	// ForPerson is what person the user For is, as the claim person of a token says; "": a person of their own.
	ForPerson string
	// For is the user for whom a command is called; "": the operation calls no command for a user.
	For string
	// Idempotency is derived from the header Idempotency-Key and the key's name. It is a valid key of a command; "": there was
	// no header.
	Idempotency string
}

// Actor returns the name under which acts and transfers of the caller are stored. No user has an id of this form.
func (c Caller) Actor() string { return "key/" + c.Key.Name }

// Route is an operation with the function that answers it.
type Route struct {
	operation string
	within    time.Duration
	answer    func(ctx context.Context, c Caller, data []byte) (any, error)
	check     func(hostapi.Operation) error
}

// Within returns the route with another limit on the time that a request may take. The usual limit is 10 s, the longest is 60 s.
func (r Route) Within(d time.Duration) Route {
	r.within = d
	return r
}

// Handle returns the route of an operation of package hostapi.
func Handle[Request, Reply any](operation string, run func(context.Context, Caller, *Request) (Reply, error)) Route {
	return Route{
		operation: operation,
		within:    usualTime,
		answer: func(ctx context.Context, c Caller, data []byte) (any, error) {
			var request Request
			if err := decode(data, &request); err != nil {
				return nil, err
			}
			return run(ctx, c, &request)
		},
		check: func(o hostapi.Operation) error {
			if _, ok := o.Request.(Request); !ok && o.Request != nil {
				return fmt.Errorf("takes %T, and the table says %T", *new(Request), o.Request)
			}
			if _, ok := o.Reply.(Reply); !ok {
				return fmt.Errorf("returns %T, and the table says %T", *new(Reply), o.Reply)
			}
			return nil
		},
	}
}

// Mount adds routes. Each must be an operation of package hostapi, with its types.
func (s *Server) Mount(routes ...Route) error {
	for _, r := range routes {
		o, ok := hostapi.Find(r.operation)
		if !ok {
			return fmt.Errorf("server: no operation %q in package hostapi", r.operation)
		}
		if err := r.check(o); err != nil {
			return fmt.Errorf("server: operation %s %w", r.operation, err)
		}
		if _, twice := s.routes[r.operation]; twice {
			return fmt.Errorf("server: operation %s is mounted twice", r.operation)
		}
		s.routes[r.operation] = r
	}
	return nil
}

// Handler serves the mounted routes. Any other request gets the error unknown_command, if its key is valid and within its rate.
func (s *Server) Handler() http.Handler {
	mux := chi.NewRouter()
	for _, o := range hostapi.Operations() {
		if r, ok := s.routes[o.Name]; ok {
			mux.Method(o.Verb, o.Path, s.handler(o, r))
		}
	}
	unknown := s.handler(hostapi.Operation{Method: wire.Method{Name: "unknown"}, Verb: http.MethodGet, Scope: ""}, Route{
		within: usualTime,
		answer: func(context.Context, Caller, []byte) (any, error) { return nil, wire.NewError(wire.CodeUnknownCommand) },
	})
	mux.NotFound(unknown)
	mux.MethodNotAllowed(unknown)
	return mux
}

const (
	usualTime = 10 * time.Second
	// maxBody bounds the body of a request: 1,000 users with their data, or 10,000 members.
	maxBody = 8 << 20

	requestIDHeader   = "X-Request-Id"
	idempotencyHeader = "Idempotency-Key"
	reasonParameter   = "reason"
	personParameter   = "person"
	maxReason         = 200 // code points; as much as a credit keeps
)

func (s *Server) handler(o hostapi.Operation, r Route) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		began := time.Now()
		c := Caller{RequestID: requestID(req), Client: address(req.RemoteAddr)}
		w.Header().Set(requestIDHeader, c.RequestID)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		ctx, cancel := context.WithTimeout(req.Context(), r.within)
		defer cancel()
		body, err := s.answer(ctx, w, req, &c, o, r)
		code := wire.Code(0)
		if err != nil {
			code = s.refuse(w, err)
		} else {
			writeJSON(w, http.StatusOK, body)
		}
		took := time.Since(began)
		s.o.Web.Observe("server/"+o.Name, code, took)
		s.o.Log.Debug("server request", "operation", o.Name, "key", c.Key.Name, "code", code, "took", took, "request", c.RequestID)
	}
}

// answer checks the caller, stores the act if the operation may change something, and runs the operation. A panic becomes an
// internal error.
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, req *http.Request, c *Caller, o hostapi.Operation, r Route) (body []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.Error("panic in a server request", "operation", o.Name, "panic", p, "stack", string(debug.Stack()))
			body, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	if err := s.identify(req, c); err != nil {
		return nil, err
	}
	if o.Scope != "" && !c.Key.May(o.Scope) {
		return nil, wire.NewError(wire.CodeForbidden, "scope", string(o.Scope))
	}
	leave, err := s.loads.enter(ctx, s.o.Local, c.Key)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := headers(req, c, o.Keyed); err != nil {
		return nil, err
	}
	if c.Reason == "" {
		switch {
		case o.Reasoned:
			return nil, chat.BadField(reasonParameter, "is missing: say why, in the query")
		case o.Texts && !c.Key.readsTexts():
			return nil, chat.BadField(reasonParameter, "is missing: a key with the scope support must say why it reads texts of users, in the query")
		}
	}
	sent, err := readBody(w, req)
	if err != nil {
		return nil, err
	}
	data, err := compose(o, req, sent)
	if err != nil {
		return nil, err
	}
	if o.Command != "" && !o.System {
		if c.For, err = url.PathUnescape(chi.URLParam(req, hostapi.For)); err != nil {
			return nil, chat.BadField(hostapi.For, "is not escaped as a part of a path")
		}
	}
	if isAct(o) || o.Texts && !c.Key.readsTexts() {
		if err := s.record(ctx, c, o, data); err != nil {
			return nil, err
		}
	}
	reply, err := r.answer(ctx, *c, data)
	if err != nil {
		return nil, err
	}
	return wire.Marshal(reply)
}

// record stores the request as an act.
func (s *Server) record(ctx context.Context, c *Caller, o hostapi.Operation, data []byte) error {
	if err := c.explained(); err != nil {
		return err
	}
	return s.o.Acts.Record(ctx, Act{
		Key: c.Key.Name, Person: c.Person, Client: c.Client.String(), Operation: o.Name, RequestID: c.RequestID, Reason: c.Reason,
		Request: recorded(c.For, data),
	})
}

// countUnauthorized is the kind under which requests without a valid key are counted, by address.
const countUnauthorized = "bad_api_key"

// errUnauthorized is the same for a missing and for a wrong key.
var errUnauthorized = wire.NewError(wire.CodeUnauthorized)

// identify finds the key of the request.
func (s *Server) identify(req *http.Request, c *Caller) error {
	if p, ok := personOf(req); ok {
		c.Key, c.Person = p.Key, p.Name
		return nil
	}
	secret, _ := auth.Bearer(req)
	key, ok := s.o.Keys.Find(secret)
	if !ok {
		s.o.Acts.Count(countUnauthorized, c.Client.String())
		return errUnauthorized
	}
	c.Key = key
	return nil
}

// headers reads the idempotency key, the reason and the person.
func headers(req *http.Request, c *Caller, keyed bool) error {
	given := req.Header.Values(idempotencyHeader)
	switch {
	case len(given) > 1:
		return chat.BadField(idempotencyHeader, "is there more than once")
	case len(given) == 1:
		if err := chat.CheckKey(given[0]); err != nil {
			return chat.BadField(idempotencyHeader, "must have 1 to 64 characters from ! to ~")
		}
		c.Idempotency = DerivedKey(c.Key.Name, given[0])
	case keyed:
		return chat.BadField(idempotencyHeader, "is missing: this request needs it, so that a repeated one counts once")
	}
	c.Reason, c.ForPerson = req.URL.Query().Get(reasonParameter), req.URL.Query().Get(personParameter)
	switch {
	case !utf8.ValidString(c.Reason) || strings.ContainsRune(c.Reason, 0):
		return chat.BadField(reasonParameter, "is not UTF-8, or holds U+0000")
	case utf8.RuneCountInString(c.Reason) > maxReason:
		return &chat.FieldError{Err: chat.ErrTooLong, Field: reasonParameter, Reason: "is too long", Limit: maxReason}
	}
	return chat.CheckPerson(c.ForPerson)
}

// validRequestID matches ids that are safe in a log and in a header, and that a credit can keep.
var validRequestID = regexp.MustCompile(`^[A-Za-z0-9._:/=+-]{1,64}$`)

// requestID returns the id that the caller has given the request. Without a valid one it returns a random id.
func requestID(req *http.Request) string {
	if id := req.Header.Get(requestIDHeader); validRequestID.MatchString(id) {
		return id
	}
	return rand.Text()
}

// address returns the IP address of the connection's other end.
func address(remote string) netip.Addr {
	a, _ := netip.ParseAddrPort(remote)
	return a.Addr().Unmap().WithZone("")
}

func readBody(w http.ResponseWriter, req *http.Request) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, chat.BadField("data", fmt.Sprintf("is over %d MiB", maxBody>>20))
	case err != nil:
		return nil, chat.BadField("data", "was not sent whole")
	}
	return data, nil
}

// refuse writes an error as the response and returns its code.
func (s *Server) refuse(w http.ResponseWriter, err error) wire.Code {
	if rate := new(chat.RateError); errors.As(err, &rate) {
		seconds := max(int64((rate.After+time.Second-1)/time.Second), 1)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	failure := s.o.Web.Failure(err)
	body, err := wire.Marshal(wire.ErrorBody{Error: failure})
	if err != nil {
		panic("server: " + err.Error())
	}
	writeJSON(w, failure.Code.Status(), body)
	return failure.Code
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, and nosniff; an error means that the caller has disconnected
}
