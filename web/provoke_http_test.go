package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/memstore"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// withRates turns rate limits on, as the program does by default.
func withRates(o *Options) { o.Rates, o.Local = true, memstore.NewLimiter(memstore.LimiterOptions{}) }

// withoutRefill stops the clock by which connections and the limiter of this instance refill their buckets. It comes after options that
// turn rate limits on. The clock is ahead, because a server refuses tokens that were issued in its future.
func withoutRefill(o *Options) {
	now := time.Now().Add(30 * time.Minute)
	o.Now = func() time.Time { return now }
	o.Local = memstore.NewLimiter(memstore.LimiterOptions{Now: o.Now})
}

// TestEveryCommandIsLimited calls each command too often. Each must be refused.
func TestEveryCommandIsLimited(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		s := newTestServer(t, withRates)
		addr := s.listen(t)
		for i, m := range wire.Methods {
			c, _ := connected(t, addr, wire.Encoding(i%2), "u-"+m.Name)
			if refusal := c.callTooOften(m.Name); !strings.HasPrefix(refusal, "rate_limited retry_after_ms=") {
				t.Errorf("%s: %q", m.Name, refusal)
			}
		}
	})
}

// callTooOften calls a method until it is refused and returns the message of the error.
func (c *rawClient) callTooOften(method string) string {
	c.t.Helper()
	for round := range 10 {
		var frame []string
		for i := range wire.CommandsPerFrame {
			frame = append(frame, fmt.Sprintf(`{"id":%d,"rpc":{"method":%q,"data":[]}}`, round*100+i+2, method))
		}
		c.send(frame...)
		for range frame {
			r := c.next()
			for r.Id == 0 {
				r = c.next()
			}
			if r.Error.Code == uint32(wire.CodeRateLimited) && r.Error.Temporary {
				return r.Error.Message
			}
		}
	}
	return "never"
}

// TestRatesOverHTTP calls commands too often over HTTP, and creates too many guests and reads too many previews from one address. All
// must be refused.
func TestRatesOverHTTP(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, withRates, withoutRefill, func(o *Options) { o.Guests = Guests{Key: testGuestKey} })
	h := s.Handler()
	tooOften := func(path, token, body string) {
		t.Helper()
		for range 200 {
			r := ask(t, h, "POST", path, token, body)
			if r.StatusCode != http.StatusTooManyRequests {
				continue
			}
			after, err := strconv.Atoi(r.Header.Get("Retry-After"))
			answer := mustAnswer[wire.ErrorBody](t, r, http.StatusTooManyRequests)
			if err != nil || after < 1 || answer.Error.Code != wire.CodeRateLimited || !strings.HasPrefix(answer.Error.Message, "rate_limited retry_after_ms=") {
				t.Errorf("%s: %v, %+v", path, r.Header, answer)
			}
			return
		}
		t.Errorf("%s: never too often", path)
	}
	for _, m := range wire.Methods {
		tooOften("/v1/commands/"+m.Name, goodToken(t, "u-"+m.Name), "[]")
	}
	tooOften("/v1/commands/nothing", goodToken(t, "ann"), "[]")
	tooOften("/v1/guests", "", `{"name":"Mei"}`)
	tooOften("/v1/links/preview", "", `{"code":"none"}`)
	tooOften("/v1/rooms/preview", "", `{"room":"none"}`)
}

func guestToken(t *testing.T, id string) string {
	t.Helper()
	token, err := auth.SignGuest(testGuestKey, chat.User{ID: id, Name: "Mei"}, time.Now(), time.Hour)
	noError(t, err)
	return token
}

// TestEveryErrorOverHTTP causes the errors that exist over HTTP only: those for each command without a valid token, and
// those of each endpoint.
func TestEveryErrorOverHTTP(t *testing.T) {
	t.Parallel()
	s := newErrorFixture(t, wire.JSON)
	h := s.Handler()
	expired, ann, admin := mint(t, auth.Claims{User: "ann"}, -time.Minute), goodToken(t, "ann"), adminToken(t)
	must := func(r *http.Response, code wire.Code) {
		t.Helper()
		if got := mustAnswer[wire.ErrorBody](t, r, code.Status()).Error.Code; got != code {
			t.Errorf("%d %s, want %d %s", got, got.Word(), code, code.Word())
		}
	}
	suspend(t, s.testServer, "sus")
	suspend(t, s.testServer, "guest:sus")
	suspended, suspendedGuest := goodToken(t, "sus"), guestToken(t, "guest:sus")
	for _, m := range wire.Methods {
		must(ask(t, h, "POST", "/v1/commands/"+m.Name, suspended, "{}"), wire.CodeSuspended)
		must(ask(t, h, "POST", "/v1/commands/"+m.Name, "", "{}"), wire.CodeUnauthorized)
		must(ask(t, h, "POST", "/v1/commands/"+m.Name, expired, "{}"), wire.CodeTokenExpired)
		must(ask(t, h, "POST", "/v1/commands/no_"+m.Name, ann, "{}"), wire.CodeUnknownCommand)
	}
	must(ask(t, h, "POST", "/v1/commands/wallet", ann, `{"next":"`+long(64<<10)+`"}`), wire.CodeBadRequest) // the largest body has 64 KiB
	provoked := map[string]map[wire.Code]struct{ token, body string }{
		"credit": {
			wire.CodeTooLong:       {admin, `{"user":"ann","amount":5,"key":"k","note":"` + long(201) + `"}`},
			wire.CodeLimitExceeded: {admin, `{"user":"ann","amount":9007199254740991,"key":"k"}`},
			wire.CodeKeyReused:     {admin, `{"user":"ann","amount":5,"key":"start-ann"}`},
		},
		"debit": {
			wire.CodeTooLong:             {admin, `{"user":"ann","amount":5,"key":"k","note":"` + long(201) + `"}`},
			wire.CodeKeyReused:           {admin, `{"user":"ann","amount":5,"key":"start-ann"}`},
			wire.CodeInsufficientBalance: {admin, `{"user":"ann","amount":50000000,"key":"k"}`},
			wire.CodeWalletFrozen:        {admin, `{"user":"cold","amount":1,"key":"k"}`},
		},
		"disconnect": {}, "audit": {wire.CodeNotFound: {admin, ""}}, "start_audit": {}, "heads": {}, "stats": {},
		"guests":       {wire.CodeTooLong: {"", `{"name":"` + long(65) + `"}`}},
		"profile":      {wire.CodeTooLong: {guestToken(t, "guest:mei"), `{"name":"` + long(65) + `"}`}},
		"picture":      {wire.CodeTooLong: {guestToken(t, "guest:mei"), `{"picture":"` + strings.Repeat("AAAA", 11_000) + `"}`}},
		"redeem":       {wire.CodeNotFound: {"", `{"code":"guest:mei~unknown"}`}},
		"preview_link": {wire.CodeNotFound: {"", `{"code":"none"}`}},
		"preview_room": {wire.CodeNotFound: {"", `{"room":"none"}`}},
	}
	for _, e := range wire.Endpoints {
		for _, code := range e.Errors {
			p, ok := provoked[e.Name][code]
			handler := h
			switch {
			case ok:
			case e.Name == "picture" && code == wire.CodeForbidden: // the host says the avatar
				p.token, p.body = mint(t, auth.Claims{User: "ann", Avatar: "https://example.com/ann.png"}, time.Hour), `{"picture":""}`
			case e.Name == "picture" && code == wire.CodeNotFound: // pictures are off
				handler = newTestServer(t, func(o *Options) { o.NoPictures = true }).Handler()
				p.token, p.body = ann, `{"picture":""}`
			case e.Open && code == wire.CodeForbidden:
				handler = fromElsewhere{h}
			case code == wire.CodeForbidden:
				p.token, p.body = ann, `{"user":"ann","amount":5,"key":"k"}`
			case e.Name == "guests" && code == wire.CodeNotFound: // guests are disabled
				handler, p.body = newTestServer(t).Handler(), `{"name":"Mei"}`
			default:
				t.Errorf("no test provokes %d %s of %s", code, code.Word(), e.Name)
				continue
			}
			must(ask(t, handler, e.Verb, e.Path, p.token, p.body), code)
		}
		if !e.Open {
			token := suspended
			if e.Guest {
				token = suspendedGuest
			}
			must(ask(t, h, e.Verb, e.Path, token, "{}"), wire.CodeSuspended)
			must(ask(t, h, e.Verb, e.Path, "", "{}"), wire.CodeUnauthorized)
			must(ask(t, h, e.Verb, e.Path, mint(t, auth.Claims{User: "root", Scope: auth.DefaultAdminScope}, -time.Minute), "{}"), wire.CodeTokenExpired)
		}
		token := admin
		if e.Guest {
			token = guestToken(t, "guest:mei")
		}
		if e.Request != nil {
			must(ask(t, h, e.Verb, e.Path, token, "[]"), wire.CodeBadRequest)
		}
		for fault, code := range map[error]wire.Code{errors.New("unheard of"): wire.CodeInternal, chat.ErrUnavailable: wire.CodeUnavailable} {
			if e.Name == "stats" {
				continue // it reads only memory, so no store can fail
			}
			s.faults.set(fault)
			word := "guest:mei~x" // of a device
			if e.Name == "preview_link" {
				word = "none.00000000000000000000"
			}
			must(ask(t, h, e.Verb, e.Path, token, `{"user":"ann","amount":5,"key":"new","name":"Mei","avatar":"avatars/1.svg","picture":"","room":"none","code":"`+word+`"}`), code)
			s.faults.set(nil)
		}
	}
}

// fromElsewhere serves requests as if a page elsewhere had sent them.
type fromElsewhere struct{ http.Handler }

func (f fromElsewhere) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Header.Set("Origin", "https://elsewhere.example")
	f.Handler.ServeHTTP(w, r)
}
