package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-chi/chi/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/ops"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// ask makes one HTTP request. bearer is the token; it may be empty.
func ask(t *testing.T, h http.Handler, method, path, bearer, body string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// mustAnswer checks the status of a response and decodes its body.
func mustAnswer[Body any](t *testing.T, r *http.Response, status int) (body Body) {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	noError(t, err)
	if r.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", r.StatusCode, status, text)
	}
	if r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers: %v", r.Header)
	}
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return body
}

// TestHTTPCommand runs commands over HTTP, without a socket. A repeated command must be recognised by its key, whether
// it came over HTTP or a socket.
func TestHTTPCommand(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	h, addr := s.Handler(), s.listen(t)
	me := goodToken(t, "ann") // of a user that the server does not know yet
	room := mustAnswer[wire.CreateRoomReply](t, ask(t, h, "POST", "/v1/commands/create_room", me, `{"key":"r","name":"hall"}`), 200).Room
	c, _ := connected(t, addr, wire.JSON, "ann")
	sent := mustAnswer[wire.SendReply](t, ask(t, h, "POST", "/v1/commands/send", me, `{"room":"`+room.ID+`","key":"k","text":"x"}`), 200)
	if again := rpc[wire.SendReply](c, 2, "send", wire.SendRequest{Room: room.ID, Key: "k", Text: "x"}); !again.Dup || again.Seq != sent.Seq || again.ID != sent.ID {
		t.Errorf("first %+v, then %+v", sent, again)
	}
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	h := s.Handler()
	member, admin := goodToken(t, "ann"), mint(t, auth.Claims{User: "root", Scope: "x hongbao:admin"}, time.Hour)
	for _, c := range []struct{ method, path string }{{"POST", "credit"}, {"POST", "debit"}, {"GET", "audit"}, {"POST", "audit"}, {"GET", "heads"}, {"POST", "disconnect"}, {"GET", "stats"}} {
		mustAnswer[wire.ErrorBody](t, ask(t, h, c.method, "/v1/admin/"+c.path, "", "{}"), 401)
		mustAnswer[wire.ErrorBody](t, ask(t, h, c.method, "/v1/admin/"+c.path, member, "{}"), 403)
	}
	adjust := func(path, body string, status int) (reply wire.AdjustReply) {
		t.Helper()
		return mustAnswer[wire.AdjustReply](t, ask(t, h, "POST", "/v1/admin/"+path, admin, body), status)
	}
	credit := `{"user":"new","amount":70,"key":"c","note":"hello"}`
	if got := adjust("credit", credit, 200); got != (wire.AdjustReply{Balance: 70, AccountVersion: 1}) {
		t.Errorf("credit: %+v", got)
	}
	if got := adjust("credit", credit, 200); got != (wire.AdjustReply{Balance: 70, AccountVersion: 1, Dup: true}) {
		t.Errorf("credit again: %+v", got)
	}
	adjust("debit", `{"user":"new","amount":70,"key":"c"}`, 409)
	adjust("debit", `{"user":"new","amount":71,"key":"d"}`, 422)
	adjust("debit", `{"user":"new","amount":-5,"key":"d"}`, 400)
	adjust("credit", `{"user":"nobody can be","amount":5,"key":"e"}`, 400)
	if got := adjust("debit", `{"user":"new","amount":30,"key":"d"}`, 200); got != (wire.AdjustReply{Balance: 40, AccountVersion: 2}) {
		t.Errorf("debit: %+v", got)
	}
	mustAnswer[wire.ErrorBody](t, ask(t, h, "GET", "/v1/admin/audit", admin, ""), 404)
	started := mustAnswer[wire.StartAuditReply](t, ask(t, h, "POST", "/v1/admin/audit", admin, `{"whole":true}`), 200)
	s.audits(t)
	audit := mustAnswer[wire.AuditReply](t, ask(t, h, "GET", "/v1/admin/audit", admin, ""), 200)
	if !audit.OK || audit.Funded != 40 || audit.InWallets != 40 || audit.At < started.At || audit.WholeAt != audit.At || len(audit.Heads) != 1 {
		t.Errorf("audit: %+v, asked for at %d", audit, started.At)
	}
}

// audits runs the packets of another instance until it has made the first audit.
func (s *testServer) audits(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.other().Run(ctx) }()
	for {
		if _, err := s.packets.LastAudit(t.Context()); err == nil {
			break
		} else if !errors.Is(err, chat.ErrNotFound) {
			t.Error(err)
			break
		}
		<-time.After(time.Millisecond)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestGuests(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) {
		o.Guests = Guests{Key: testGuestKey, Credit: 500, Reserved: chat.ReservedNames{"official", "客服"}}
	})
	h, addr := s.Handler(), s.listen(t)
	guest := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":" Mei "}`), 200)
	if !strings.HasPrefix(guest.User.ID, "guest:") || guest.User.Name != "Mei" {
		t.Errorf("guest %+v", guest.User)
	}
	if !guest.User.Guest {
		t.Error("a guest is not marked")
	}
	other := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	if other.User.ID == guest.User.ID {
		t.Error("two guests are one")
	}
	data := dataOf(t, dial(t, addr, wire.JSON).connect(guest.Token, "{}"))
	if data.User != guest.User || data.Balance != 500 {
		t.Errorf("connected as %+v", data)
	}
	connected(t, addr, wire.JSON, "ann") // tokens of the host are accepted on the same server
	for body, code := range map[string]wire.Code{
		`{}`: wire.CodeBadRequest, `{"name":""}`: wire.CodeBadRequest, `{"name":"  "}`: wire.CodeBadRequest, `{"name":7}`: wire.CodeBadRequest,
		`{"name":"` + strings.Repeat("名", 65) + `"}`: wire.CodeTooLong, `{"name":"a\u0000"}`: wire.CodeBadRequest,
		`{"name":"\u202enimda"}`: wire.CodeBadRequest, `{"name":"admin\u200b"}`: wire.CodeBadRequest, `{"name":"\u200b\u3164"}`: wire.CodeBadRequest,
		`{"name":"Official Support"}`: wire.CodeBadRequest, `{"name":"在线客服"}`: wire.CodeBadRequest,
	} {
		if got := mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/guests", "", body), 400); got.Error.Code != code {
			t.Errorf("%s: %+v", body, got)
		}
	}

	without := newTestServer(t)
	mustAnswer[wire.ErrorBody](t, ask(t, without.Handler(), "POST", "/v1/guests", "", `{"name":"Mei"}`), 404)
	c := dial(t, without.listen(t), wire.JSON)
	c.send(`{"id":1,"connect":{"token":"` + guest.Token + `"}}`)
	c.mustClose(wire.CloseInvalidToken)
}

// TestCORS calls every route, and an unknown one, from several origins. Pages of allowed origins must be able to read
// the response, also an error. Pages of other origins must not.
func TestCORS(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) { o.AllowedOrigins = []string{"https://App.example.com/"} })
	h := s.Handler()
	paths := []string{"/v1/commands/nothing", "/v1/nothing", "/v1/commands/a/b", "/v1/"}
	err := chi.Walk(h.(chi.Routes), func(_, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if strings.HasPrefix(route, "/v1/") {
			paths = append(paths, strings.Replace(route, "{method}", "send", 1))
		}
		return nil
	})
	if err != nil || len(paths) < 12 {
		t.Fatalf("walked over %v, %v", paths, err)
	}
	for _, path := range paths {
		for origin, allowed := range map[string]string{
			"https://app.example.com": "https://app.example.com", "https://evil.example.com": "", "https://app.example.com.evil.com": "", "null": "", "": "",
		} {
			preflight := ask(t, h, "OPTIONS", path, "", "", "Origin", origin, "Access-Control-Request-Method", "POST",
				"Access-Control-Request-Headers", "authorization,content-type")
			if got := preflight.Header.Get("Access-Control-Allow-Origin"); got != allowed || (preflight.StatusCode == 204) != (allowed != "") {
				t.Errorf("%s: preflight from %q: %d, allows %q", path, origin, preflight.StatusCode, got)
			}
			if allowed != "" && (preflight.Header.Get("Access-Control-Allow-Headers") != "Authorization, Content-Type" ||
				preflight.Header.Get("Access-Control-Allow-Methods") != "GET, POST") {
				t.Errorf("%s: preflight allows %v", path, preflight.Header)
			}
			// Error responses must be readable, too.
			answer := ask(t, h, "POST", path, "", "", "Origin", origin)
			if got := answer.Header.Get("Access-Control-Allow-Origin"); got != allowed || !strings.Contains(answer.Header.Get("Vary"), "Origin") {
				t.Errorf("%s: answer to %q: %v", path, origin, answer.Header)
			}
			if (answer.Header.Get("Access-Control-Expose-Headers") == "Retry-After") != (allowed != "") || answer.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: answer to %q: %v", path, origin, answer.Header)
			}
		}
	}
}

// TestHTTPAnswersInTime runs work that takes too long, and work that panics. The request must be answered in time, the
// slow work must continue, and the process must survive.
func TestHTTPAnswersInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{o: Options{Log: slog.New(slog.DiscardHandler)}}
		ctx, cancel := context.WithTimeout(t.Context(), httpTime)
		defer cancel()
		var done atomic.Bool
		_, err := inTime(ctx, s.o.Log, func() ([]byte, error) {
			time.Sleep(time.Minute)
			done.Store(true)
			return nil, nil
		})
		if !errors.Is(err, chat.ErrUnavailable) || done.Load() {
			t.Errorf("answered %v, done %t", err, done.Load())
		}
		time.Sleep(time.Minute)
		if !done.Load() {
			t.Error("it did not go on")
		}
		reply, err := inTime(t.Context(), s.o.Log, func() ([]byte, error) { return []byte("x"), chat.ErrMuted })
		if string(reply) != "x" || !errors.Is(err, chat.ErrMuted) {
			t.Errorf("answered %s, %v", reply, err)
		}
		if _, err := inTime(t.Context(), s.o.Log, func() ([]byte, error) { panic("a bug") }); err == nil || !strings.Contains(err.Error(), "a bug") {
			t.Errorf("a panic: %v", err)
		}
	})
}

// stuckLedger is a ledger whose Settle blocks until the test releases it.
type stuckLedger struct {
	redpacket.Ledger
	free chan struct{}
}

func (l stuckLedger) Settle(ctx context.Context, c []redpacket.Claim) []redpacket.Settlement {
	<-l.free
	return l.Ledger.Settle(ctx, c)
}

// TestGrabOverHTTPIsAnsweredInTime grabs over HTTP while nothing can be committed. The request must be answered in
// time, and a second grab must return the outcome of the first.
func TestGrabOverHTTPIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		engines := newTestEngines(t)
		free := make(chan struct{})
		engines.ledger = stuckLedger{engines.ledger, free}
		s := engines.open(t)
		ann := s.signIn(t, "ann", 100)
		sent := call[wire.SendPacketReply](t, s, ann, "send_packet", wire.SendPacketRequest{Room: s.room(t, ann, "hall").ID, Key: "k", Total: 10, Count: new(2)})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, "POST", "/v1/commands/grab", strings.NewReader(`{"packet":"`+sent.Packet.ID+`"}`))
		r.Header.Set("Authorization", "Bearer "+goodToken(t, "ann"))
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if answer := mustAnswer[wire.ErrorBody](t, w.Result(), 503); answer.Error.Code != wire.CodeUnavailable || !answer.Error.Temporary {
			t.Errorf("answered %+v", answer)
		}
		close(free)
		again := mustAnswer[wire.GrabReply](t, ask(t, s.Handler(), "POST", "/v1/commands/grab", goodToken(t, "ann"), `{"packet":"`+sent.Packet.ID+`"}`), 200)
		if again.Outcome != "already" && again.Outcome != "won" || again.Rank != 1 {
			t.Errorf("asked again: %+v", again)
		}
	})
}

func TestOps(t *testing.T) {
	t.Parallel()
	var broken, slow error
	s := newTestServer(t, func(o *Options) {
		o.Ops.Parts = func(context.Context) []ops.Part {
			return []ops.Part{{Name: "database", Err: broken, Needed: true}, {Name: "redis", Err: slow}}
		}
		o.Ops.Pprof = true
	})
	addr, h := s.listen(t), s.OpsHandler()
	status := func(path string) int { return ask(t, h, "GET", "http://localhost"+path, "", "").StatusCode }
	if status("/healthz") != 200 || status("/readyz") != 200 || status("/debug/pprof/") != 200 || status("/debug/pprof/heap") != 200 {
		t.Error("ops listener is not up")
	}
	broken = errors.New("no database")
	if status("/healthz") != 200 || status("/readyz") != 503 {
		t.Error("an engine that cannot be reached is no reason to be killed, but to get no clients")
	}
	broken, slow = nil, errors.New("Redis at r:1 is gone")
	r := ask(t, h, "GET", "http://localhost/readyz", "", "")
	if text, err := io.ReadAll(r.Body); r.StatusCode != 200 || string(text) != "degraded\nredis: Redis at r:1 is gone\n" {
		t.Errorf("/readyz without a part that is not needed: %d %q, %v, want 200, degraded and the reason", r.StatusCode, text, err)
	}
	slow = nil

	c, _ := connected(t, addr, wire.JSON, "ann")
	rpc[wire.WalletReply](c, 2, "wallet", wire.WalletRequest{})
	c.send(`{"id":3,"rpc":{"method":"made up"}}`)
	c.reply(3)
	c.send(`{"id":0,"rpc":{}}`)
	c.mustClose(wire.CloseProtocolError)
	s.eventually(t, "the end of the socket", func() bool { return s.hub.Connections() == 0 })
	metrics, err := io.ReadAll(ask(t, h, "GET", "http://localhost/metrics", "", "").Body)
	noError(t, err)
	for _, line := range []string{
		"hongbao_connections 0", `hongbao_closes_total{code="3501"} 1`, `hongbao_command_seconds_count{code="0",method="connect"} 1`,
		`hongbao_command_seconds_count{code="0",method="wallet"} 1`, `hongbao_command_seconds_count{code="104",method="unknown"} 1`,
		"hongbao_deliveries_total", "go_goroutines",
	} {
		if !strings.Contains(string(metrics), "\n"+line) {
			t.Errorf("metrics lack %s", line)
		}
	}
	if strings.Contains(string(metrics), "made up") {
		t.Error("clients can make up labels")
	}

	noError(t, s.Drain(t.Context(), time.Millisecond))
	if status("/healthz") != 200 || status("/readyz") != 503 {
		t.Error("a draining server is alive, but not ready")
	}
	if r := ask(t, s.Handler(), "GET", "/metrics", "", ""); r.StatusCode != 404 {
		t.Errorf("metrics for everyone: %d", r.StatusCode)
	}
}
