package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

	"hongbao/chat"
	"hongbao/redpacket/trace"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// httpTime limits how long a command or a picture over HTTP may take. It does not interrupt a commit that has begun: such a
// command may take longer.
const httpTime = 10 * time.Second

// serveCommand answers one command of a user.
func (s *Server) serveCommand(w http.ResponseWriter, r *http.Request) {
	method := chi.URLParam(r, "method")
	release := func() {}
	defer func() { release() }()
	s.serve(w, r, api.KnownMethod(method), func(ctx context.Context, data []byte) ([]byte, error) {
		c, err := s.callerOf(ctx, r)
		if err != nil {
			return nil, err
		}
		if err := s.rates.SpendHTTP(ctx, c.User.ID); err != nil {
			return nil, err
		}
		if method == api.MethodGrab {
			return inTime(ctx, s.o.Log, func() ([]byte, error) { return s.Call(ctx, c, method, data) })
		}
		reply, err := s.Call(ctx, c, method, data)
		release = s.replies.Hold(cmp.Or(c.Address, c.User.ID), len(reply), w)
		return reply, err
	})
}

// serveAdmin answers one command of an administrator.
func (s *Server) serveAdmin(method string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, method, func(ctx context.Context, data []byte) ([]byte, error) {
			c, err := s.callerOf(ctx, r)
			if err == nil && !c.Admin {
				err = s.refuseAdmin(ctx, r, c, method)
			}
			if err == nil {
				err = s.recordAdmin(ctx, r, c, method, data)
			}
			if err != nil {
				return nil, err
			}
			return s.callAdmin(ctx, c, method, data)
		})
	}
}

// serve reads the request's body, calls answer, writes the reply or the error, and records the command in the metrics.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, method string, answer func(context.Context, []byte) ([]byte, error)) {
	began, id := time.Now(), requestID(r)
	w.Header().Set(requestIDHeader, id)
	ctx, cancel := context.WithTimeout(r.Context(), httpTime)
	defer cancel()
	ctx, span := trace.Command(ctx, method, r.Header.Get("Traceparent"))
	data, err := readBody(w, r)
	var reply []byte
	if err == nil {
		reply, err = answer(ctx, data)
	}
	code := wire.Code(0)
	var failed error
	if err != nil {
		if code = s.refuse(w, err); code.Temporary() {
			failed = err
		}
	} else {
		writeJSON(w, http.StatusOK, reply)
	}
	took := time.Since(began)
	s.metrics.Command(method, code, took)
	span.Text("hongbao.request", id)
	span.Number("hongbao.code", int(code))
	span.End(failed)
	s.o.Log.Debug("command", "method", method, "code", code, "took", took, "request", id)
}

// requestIDHeader names a request in the logs of the load balancer, of this server and of the caller.
const requestIDHeader = "X-Request-Id"

// validRequestID matches ids that are safe in a log and in a header.
var validRequestID = regexp.MustCompile(`^[A-Za-z0-9._:/=+-]{1,128}$`)

// requestID returns the id that the caller or the load balancer has given the request. Without a valid one it returns a random
// id.
func requestID(r *http.Request) string {
	if id := r.Header.Get(requestIDHeader); validRequestID.MatchString(id) {
		return id
	}
	return rand.Text()
}

// inTime returns the result of work. If ctx ends first, it returns an error that wraps chat.ErrUnavailable, and work continues
// on its own goroutine. A panic of work is caught and does not end the process.
func inTime(ctx context.Context, log *slog.Logger, work func() ([]byte, error)) ([]byte, error) {
	type answer struct {
		reply []byte
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				log.Error("panic in a command", "panic", p, "stack", string(debug.Stack()))
				answers <- answer{err: fmt.Errorf("panic: %v", p)}
			}
		}()
		reply, err := work()
		answers <- answer{reply, err}
	}()
	select {
	case a := <-answers:
		return a.reply, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", chat.ErrUnavailable, ctx.Err())
	}
}

// readBody reads the request's body. A body over wire.FrameBytes (64 KiB), the limit of a frame, is a bad request.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, wire.FrameBytes))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, chat.BadField("data", "is over 64 KiB")
	case err != nil:
		return nil, chat.BadField("data", "was not sent whole")
	}
	return data, nil
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client has disconnected
}

// refuse writes an error as the response and returns its code.
func (s *Server) refuse(w http.ResponseWriter, err error) wire.Code {
	if rate := new(chat.RateError); errors.As(err, &rate) {
		w.Header().Set("Retry-After", strconv.FormatInt(roundedUp(rate.After, time.Second), 10))
	}
	failure := s.errors.Failure(err)
	writeError(w, failure)
	return failure.Code
}

func writeError(w http.ResponseWriter, failure wire.Error) {
	writeJSON(w, failure.Code.Status(), marshal(wire.ErrorBody{Error: failure}))
}

// Failure converts an error of the domain to what a client or a host receives. It logs an error that is not in the table of
// errors.
func (s *Server) Failure(err error) wire.Error { return s.errors.Failure(err) }

// marshal encodes a value of our own types, for which encoding cannot fail.
func marshal(v any) []byte {
	data, err := wire.Marshal(v)
	if err != nil {
		panic("web: " + err.Error())
	}
	return data
}

// callerOf returns the user whose token the request carries, as the caller of commands.
func (s *Server) callerOf(ctx context.Context, r *http.Request) (api.Caller, error) {
	token, _ := auth.Bearer(r)
	identity, err := s.authenticate(ctx, r, token)
	if err != nil {
		return api.Caller{}, err
	}
	user, err := s.chat.Admit(ctx, identity.User, identity.Issued)
	if errors.Is(err, chat.ErrRevoked) || errors.Is(err, chat.ErrSuspended) {
		s.refusedToken(r)
	}
	c := api.Caller{User: user, Person: identity.Person, Admin: identity.Admin}
	if user.Guest() {
		c.Address = subnet(s.proxies.client(r))
	}
	return c, err
}

// authenticate verifies the token of a request. All invalid tokens get the same error, except expired ones.
func (s *Server) authenticate(ctx context.Context, r *http.Request, token string) (auth.Identity, error) {
	identity, err := s.tokens.Verify(ctx, token)
	if errors.Is(err, auth.ErrInvalid) {
		s.refusedToken(r)
		return auth.Identity{}, errUnauthorized
	}
	return identity, err
}

// refusedToken counts a request whose token is missing, invalid or revoked, or whose user is suspended.
func (s *Server) refusedToken(r *http.Request) {
	client := s.proxies.client(r)
	s.o.Log.Debug("request refused", "client", client, "path", r.URL.Path)
	s.o.Security.Count(CountUnauthorized, subnet(client))
}

// proxies are the trusted proxies in front of the server. Their headers about clients (X-Forwarded-*) are believed. From any
// other address these headers are ignored, because any client can write them.
type proxies []netip.Prefix

func (p proxies) trusts(a netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// client returns the IP address of the client. If the connection comes from a trusted proxy, it reads X-Forwarded-For from the
// end and returns the first address that is not a trusted proxy's. It ignores the addresses before that one, because the
// client may have forged them. If it finds no such address, it returns the last valid one that it has read.
func (p proxies) client(r *http.Request) netip.Addr {
	at := address(r.RemoteAddr)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trusts(at); i-- {
		next := address(strings.TrimSpace(hops[i]))
		if !next.IsValid() {
			break
		}
		at = next
	}
	return at
}

// holder returns the address that holds a connection from there, of an IPv6 address its /64. A trusted proxy connects for many clients: its
// connections have no holder, and the result is empty.
func (p proxies) holder(from net.Addr) string {
	at := address(from.String())
	if p.trusts(at) {
		return ""
	}
	return subnet(at)
}

// host returns the host name that the client used in its request.
func (p proxies) host(r *http.Request) string {
	if p.trusts(address(r.RemoteAddr)) {
		first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Host"), ",")
		if first = strings.TrimSpace(first); first != "" {
			return first
		}
	}
	return r.Host
}

// secure reports whether the client is known to use TLS.
func (p proxies) secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return p.trusts(address(r.RemoteAddr)) && strings.EqualFold(strings.TrimSpace(first), "https")
}

// address parses an IP address with or without a port. It returns the zero Addr if the text is not an address.
func address(text string) netip.Addr {
	if a, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return a.Unmap().WithZone("")
	}
	a, _ := netip.ParseAddrPort(text)
	return a.Addr().Unmap().WithZone("")
}

// subnet returns the part of an address that a client cannot change freely: an IPv4 address, or the /64 of an IPv6
// address.
func subnet(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// origins are the origins whose pages may call this server, besides the server's own host.
type origins struct {
	listed  map[string]struct{}
	proxies proxies
}

func newOrigins(list []string, p proxies) origins {
	o := origins{listed: make(map[string]struct{}, len(list)), proxies: p}
	for _, origin := range list {
		o.listed[strings.ToLower(strings.TrimRight(strings.TrimSpace(origin), "/"))] = struct{}{}
	}
	return o
}

// has reports whether the operator's configuration allows this origin.
func (o origins) has(origin string) bool {
	_, ok := o.listed[strings.ToLower(origin)]
	return ok
}

// allowed reports whether the page that sends the request may open a socket, or make a request without a token. A request without an Origin header may: it comes
// from no page, because browsers send the header with each upgrade to a WebSocket. A page of this host that was loaded without
// TLS may not open a socket over TLS: an attacker on the network could have changed that page.
func (o origins) allowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	if err == nil && strings.EqualFold(u.Host, o.proxies.host(r)) && (u.Scheme == "https" || u.Scheme == "http" && !o.proxies.secure(r)) {
		return true
	}
	return o.has(origin)
}

const (
	// noContentPolicy is the Content-Security-Policy of answers that are neither a page nor a picture.
	noContentPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	// featurePolicy is the Permissions-Policy: of these, the page needs only the microphone, for recordings.
	featurePolicy = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), " +
		"microphone=(self), midi=(), payment=(), serial=(), usb=()"
	// onlyTLS is the Strict-Transport-Security of answers over TLS.
	onlyTLS = "max-age=31536000"
)

// harden adds headers that restrict what browsers do with the answers. The page and the pictures replace the
// Content-Security-Policy by their own.
func (o origins) harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", noContentPolicy)
		h.Set("Permissions-Policy", featurePolicy)
		if len(o.listed) == 0 { // the header would keep a page of an allowed origin from sending a token to a window that it opens
			h.Set("Cross-Origin-Opener-Policy", "same-origin")
		}
		if o.proxies.secure(r) {
			h.Set("Strict-Transport-Security", onlyTLS)
		}
		next.ServeHTTP(w, r)
	})
}

// cors allows pages of the allowed origins to call the API. Cookies are not allowed, because requests carry a token.
func (o origins) cors(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		if origin != "" && o.has(origin) {
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Expose-Headers", "Retry-After")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				h.Set("Access-Control-Allow-Methods", "GET, POST")
				h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
				h.Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// serveDocument serves a JSON document, which it makes for the first request. A request with the document's ETag
// gets status 304.
func serveDocument(document func(version string) []byte, version string) http.HandlerFunc {
	made := sync.OnceValues(func() (body []byte, tag string) {
		body = document(version)
		sum := sha256.Sum256(body)
		return body, `"` + hex.EncodeToString(sum[:16]) + `"`
	})
	return func(w http.ResponseWriter, r *http.Request) {
		body, tag := made()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache") // clients revalidate, so they notice a new version at once
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	}
}
