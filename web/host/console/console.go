package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/web/host/hostapi"
	"hongbao/web/host/server"
	"hongbao/web/wire"
)

// Options configure a Console. All fields but Log and Now are required.
type Options struct {
	API     http.Handler // the server API
	Keys    *server.Keys
	Acts    server.Acts
	Failure func(error) wire.Error // converts an error of the domain to what the caller receives
	Local   chat.Limiter           // counts on this instance only
	Secret  []byte                 // 32 bytes, the same on all instances

	Currency wire.Currency // of all money
	Log      *slog.Logger
	Now      func() time.Time
}

// Console serves the page and its requests.
type Console struct {
	// static
	o      Options
	sealer sealer
	files  map[string]file
}

// New returns a console.
func New(o Options) (*Console, error) {
	if len(o.Secret) != 32 {
		return nil, errors.New("console: the secret must have 32 bytes")
	}
	o.Log, o.Now = cmp.Or(o.Log, slog.Default()), orNow(o.Now)
	sealer, err := newSealer(o.Secret)
	if err != nil {
		return nil, err
	}
	files, err := pageFiles()
	return &Console{o: o, sealer: sealer, files: files}, err
}

func orNow(now func() time.Time) func() time.Time {
	if now == nil {
		return time.Now
	}
	return now
}

const (
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	apiPrefix    = "/console/api/"
	serverPrefix = "/v1/server/"
	// ownHeader is sent with each request of the page. Forms and pages of other sites cannot send it. The value "auto" means that no person has asked for
	// it, so it does not prolong the session.
	ownHeader = "X-Console"
	automatic = "auto"

	maxPerson = 64      // code points of a person's name
	maxSignIn = 4 << 10 // bytes of a sign-in
)

// Handler serves /console and all paths below it. Requests for any other path go to the server API.
func (c *Console) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if path != cookiePath && !strings.HasPrefix(path, cookiePath+"/") {
			c.o.API.ServeHTTP(w, r)
			return
		}
		protect(w.Header())
		switch {
		case path == cookiePath:
			http.Redirect(w, r, cookiePath+"/", http.StatusSeeOther)
		case path == "/console/session":
			c.session(w, r)
		case strings.HasPrefix(path, apiPrefix):
			c.forward(w, r)
		default:
			c.file(w, r, strings.TrimPrefix(path, cookiePath+"/"))
		}
	})
}

// protect sets the headers of every answer of the console.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// ofThePage reports whether the page itself has sent the request. A form of another site cannot send the header; a script there would have to ask first, and
// gets no leave. Browsers also say from which site a request comes.
func ofThePage(r *http.Request) bool {
	if r.Header.Get(ownHeader) == "" {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	from, err := url.Parse(origin)
	return err == nil && from.Host == r.Host
}

var errForeign = chat.BadField(ownHeader, "is missing, or the request comes from another site")

// session answers who has signed in, signs in, and signs out.
func (c *Console) session(w http.ResponseWriter, r *http.Request) {
	switch {
	case !ofThePage(r):
		c.refuse(w, errForeign)
	case r.Method == http.MethodGet:
		c.tell(w, r)
	case r.Method == http.MethodPost:
		c.signIn(w, r)
	case r.Method == http.MethodDelete:
		setCookie(w, r, "", 0)
		answer(w, signedIn{Keys: len(c.o.Keys.Names()) > 0})
	default:
		c.refuse(w, wire.NewError(wire.CodeUnknownCommand))
	}
}

// signedIn says who has signed in.
type signedIn struct {
	Keys   bool            `json:"keys"`             // there are keys
	Key    string          `json:"key,omitempty"`    // name; missing: nobody has signed in
	Person string          `json:"person,omitempty"` // as given at the sign-in
	Scopes []hostapi.Scope `json:"scopes,omitempty"`
	Until  int64           `json:"until,omitempty"` // when the session ends at the latest, Unix milliseconds

	Currency *wire.Currency `json:"currency,omitempty"`
}

// tell answers who has signed in. It does not prolong the session.
func (c *Console) tell(w http.ResponseWriter, r *http.Request) {
	s, key, err := c.current(r)
	if err != nil {
		answer(w, signedIn{Keys: len(c.o.Keys.Names()) > 0})
		return
	}
	answer(w, c.info(s, key))
}

func (c *Console) info(s session, key server.Key) signedIn {
	return signedIn{Keys: true, Key: key.Name, Person: s.Person, Scopes: key.Scopes, Until: time.Unix(s.Began, 0).Add(absoluteEnd).UnixMilli(), Currency: &c.o.Currency}
}

// current returns the valid session of the request, and its key as the keys file has it now.
func (c *Console) current(r *http.Request) (session, server.Key, error) {
	for _, value := range cookies(r) {
		s, err := c.sealer.open(value, c.o.Now())
		if err != nil {
			continue
		}
		if key, ok := c.o.Keys.WithHash(s.Hash); ok {
			return s, key, nil
		}
	}
	return session{}, server.Key{}, errNoSession
}

// Tries at keys. The first try of an address in a minute needs no further token, so others cannot use up those of a person that has the right key. Each
// further try needs a token of the address, and one that all addresses share.
var (
	firstTry   = chat.Rate{PerSecond: 1.0 / 60, Burst: 1}
	addressTry = chat.Rate{PerSecond: 1.0 / 10, Burst: 10}
	anyTry     = chat.Rate{PerSecond: 5, Burst: 100}
)

// countBadKey is the kind under which wrong keys are counted, by address.
const countBadKey = "bad_console_key"

// try returns an error unless the address may try a key.
func (c *Console) try(ctx context.Context, address string) error {
	wait, err := c.o.Local.Take(ctx, "console-first:"+address, firstTry)
	if wait > 0 {
		if wait, err = c.o.Local.Take(ctx, "console:"+address, addressTry); err == nil && wait == 0 { // an address without tokens must not spend those of all
			wait, err = c.o.Local.Take(ctx, "console-all", anyTry)
		}
	}
	if err == nil && wait > 0 {
		return &chat.RateError{After: wait}
	}
	return err
}

// network returns the address from which a request comes. Of IPv6 it is the network of 64 bits, because one host may have all its addresses.
func network(remote string) string {
	a, err := netip.ParseAddrPort(remote)
	if err != nil {
		return ""
	}
	if ip := a.Addr().Unmap().WithZone(""); ip.Is4() {
		return ip.String()
	}
	prefix, err := a.Addr().WithZone("").Prefix(64)
	if err != nil {
		return ""
	}
	return prefix.String()
}

// signInRequest is the body of a sign-in.
type signInRequest struct {
	Key    string `json:"key"`
	Person string `json:"person"`
}

// signIn checks the key and begins a new session. Any cookie that the request has counts for nothing.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request) {
	var request signInRequest
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSignIn))
	if err != nil || json.Unmarshal(body, &request) != nil {
		c.refuse(w, chat.BadField("data", "is not a JSON object with key and person"))
		return
	}
	person := strings.TrimSpace(request.Person)
	if err := checkPerson(person); err != nil {
		c.refuse(w, err)
		return
	}
	address := network(r.RemoteAddr)
	if err := c.try(r.Context(), address); err != nil {
		c.refuse(w, err)
		return
	}
	key, ok := c.o.Keys.Find(strings.TrimSpace(request.Key))
	if !ok {
		c.o.Acts.Count(countBadKey, address)
		c.refuse(w, wire.NewError(wire.CodeUnauthorized))
		return
	}
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	if err := c.o.Acts.Record(r.Context(), server.Act{Key: key.Name, Person: person, Client: client, Operation: "console_sign_in", RequestID: randomID(), Request: []byte("{}")}); err != nil {
		c.refuse(w, err)
		return
	}
	now := c.o.Now().Unix()
	s := session{Hash: key.Hash, Person: person, Began: now, Seen: now}
	if err := c.give(w, r, s); err != nil {
		c.refuse(w, err)
		return
	}
	answer(w, c.info(s, key))
}

// give sends the session to the browser.
func (c *Console) give(w http.ResponseWriter, r *http.Request, s session) error {
	value, err := c.sealer.seal(s)
	if err == nil {
		setCookie(w, r, value, idleEnd)
	}
	return err
}

// checkPerson checks the name that a person gives: it stands in acts and logs.
func checkPerson(name string) error {
	switch {
	case name == "":
		return chat.BadField("person", "is missing: acts are stored under this name")
	case utf8.RuneCountInString(name) > maxPerson:
		return chat.BadField("person", "has more than "+strconv.Itoa(maxPerson)+" characters")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return chat.BadField("person", "has a character that is not printed")
	}
	return nil
}

// forward sends a request of the page to the server API, as the person that has signed in.
func (c *Console) forward(w http.ResponseWriter, r *http.Request) {
	if !ofThePage(r) {
		c.refuse(w, errForeign)
		return
	}
	s, key, err := c.current(r)
	if err != nil {
		setCookie(w, r, "", 0)
		c.refuse(w, wire.NewError(wire.CodeUnauthorized))
		return
	}
	if now := c.o.Now().Unix(); r.Header.Get(ownHeader) != automatic && now-s.Seen >= int64(renewAfter.Seconds()) {
		s.Seen = now
		if err := c.give(w, r, s); err != nil {
			c.refuse(w, err)
			return
		}
	}
	inner := r.Clone(server.As(r.Context(), server.Person{Key: key, Name: s.Person}))
	inner.URL.Path = serverPrefix + strings.TrimPrefix(r.URL.Path, apiPrefix)
	if r.URL.RawPath != "" { // an id with an escaped slash
		inner.URL.RawPath = serverPrefix + strings.TrimPrefix(r.URL.RawPath, apiPrefix)
	}
	inner.Header.Del("Authorization")
	c.o.API.ServeHTTP(w, inner)
}

// refuse writes an error in the form of the server API.
func (c *Console) refuse(w http.ResponseWriter, err error) {
	failure := c.o.Failure(err)
	if limited := new(chat.RateError); errors.As(err, &limited) {
		w.Header().Set("Retry-After", strconv.FormatInt(max(int64((limited.After+time.Second-1)/time.Second), 1), 10))
	}
	write(w, failure.Code.Status(), wire.ErrorBody{Error: failure})
}

func answer(w http.ResponseWriter, body any) { write(w, http.StatusOK, body) }

func write(w http.ResponseWriter, status int, body any) {
	data, err := wire.Marshal(body)
	if err != nil {
		panic("console: " + err.Error()) // its own types can always be encoded
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) //nolint:gosec // JSON, and nosniff; an error means that the caller has disconnected
}
