package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/store/memstore"
	"hongbao/web/ops"
	"hongbao/web/user/api"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// TestOpsOfThisMachineOnly asks the operator's listener by names that are not this machine's. A page elsewhere can make a
// browser do so, with a name that it lets resolve to 127.0.0.1.
func TestOpsOfThisMachineOnly(t *testing.T) {
	t.Parallel()
	h := newTestServer(t).OpsHandler()
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:8081": 200, "127.0.0.1:8081": 200, "127.1.2.3": 200, "[::1]:8081": 200, "[::1]": 200,
		"rebind.example.com": 421, "rebind.example.com:8081": 421, "127.0.0.1.example.com": 421, "localhost.example.com": 421, "10.0.0.7:8081": 421,
		"[2001:db8::1]:8081": 421, "0.0.0.0:8081": 421, "": 421,
	} {
		for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Host = host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s with the host %q: status %d, want %d", path, host, w.Code, want)
			}
		}
	}
	if r := ask(t, h, "GET", "http://localhost/debug/pprof/", "", ""); r.StatusCode != 404 {
		t.Errorf("profiles without the setting: status %d, want 404", r.StatusCode)
	}
}

// TestOpsToken reads the operator's listener from elsewhere. Without the token, only whether the server is ready may be seen.
func TestOpsToken(t *testing.T) {
	t.Parallel()
	const token = "the token of the operator, 32 bytes"
	s := newTestServer(t, func(o *Options) {
		o.Ops = ops.Options{Token: token, Pprof: true, Parts: func(context.Context) []ops.Part {
			return []ops.Part{{Name: "database", Err: errors.New("Postgres at db.internal is gone"), Needed: true}}
		}}
	})
	h := s.OpsHandler()
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline"} {
		for bearer, want := range map[string]int{"": 401, token + "x": 401, token[1:]: 401, token: 200} {
			if r := ask(t, h, "GET", path, bearer, ""); r.StatusCode != want {
				t.Errorf("%s with the token %q: status %d, want %d", path, bearer, r.StatusCode, want)
			}
		}
	}
	for bearer, told := range map[string]bool{"": false, "wrong": false, token: true} {
		r := ask(t, h, "GET", "/readyz", bearer, "")
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 503 || strings.Contains(string(text), "db.internal") != told {
			t.Errorf("/readyz with the token %q: status %d, %s, %v; want 503 and the reason: %t", bearer, r.StatusCode, text, err, told)
		}
		if r := ask(t, h, "GET", "/healthz", bearer, ""); r.StatusCode != 200 {
			t.Errorf("/healthz with the token %q: status %d, want 200", bearer, r.StatusCode)
		}
	}
}

// TestOriginsAreCheckedWithTheirScheme opens sockets as pages do. A page that was loaded without TLS, which others on the
// way may have changed, must not open a socket of the same host over TLS.
func TestOriginsAreCheckedWithTheirScheme(t *testing.T) {
	t.Parallel()
	s := newTestServer(t, func(o *Options) {
		o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
		o.AllowedOrigins = []string{"http://other.example.com"}
	})
	const host = "chat.example.com"
	for _, c := range []struct {
		origin, from, proto string
		want                bool
	}{
		{"", "192.0.2.7:1", "", true},
		{"http://" + host, "192.0.2.7:1", "", true},
		{"https://" + host, "192.0.2.7:1", "", true}, // a proxy with TLS that is not configured
		{"https://" + host, "10.0.0.1:1", "https", true},
		{"https://CHAT.example.com", "10.0.0.1:1", "HTTPS, http", true},
		{"http://" + host, "10.0.0.1:1", "https", false},
		{"http://" + host, "10.0.0.1:1", "http", true},
		{"http://" + host, "10.0.0.1:1", "", true},
		{"http://" + host, "192.0.2.7:1", "https", true}, // anyone can write the header
		{"http://other.example.com", "10.0.0.1:1", "https", true},
		{"https://other.example.com", "10.0.0.1:1", "https", false},
		{"chrome-extension://" + host, "192.0.2.7:1", "", false},
		{"ftp://" + host, "192.0.2.7:1", "", false},
		{"null", "192.0.2.7:1", "", false},
		{"https://" + host + ".example.net", "10.0.0.1:1", "https", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://"+host+"/v1/socket", nil)
		r.RemoteAddr = c.from
		r.Header.Set("Origin", c.origin)
		r.Header.Set("X-Forwarded-Proto", c.proto)
		if got := s.origins.allowed(r); got != c.want {
			t.Errorf("origin %q from %s, X-Forwarded-Proto %q: allowed %t, want %t", c.origin, c.from, c.proto, got, c.want)
		}
	}
}

// TestEveryAnswerIsHardened looks at the headers of answers of every kind.
func TestEveryAnswerIsHardened(t *testing.T) {
	t.Parallel()
	proxy := func(o *Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")} } // of httptest's requests
	alone, framed := newTestServer(t, proxy), newTestServer(t, proxy, func(o *Options) { o.AllowedOrigins = []string{"https://shop.example.com"} })
	for _, path := range []string{"/", "/app/main.js", "/none", "/page.json", "/v1/none", "/v1/openapi.json", "/v1/socket", "/v1/admin/stats"} {
		for _, proto := range []string{"", "http", "https"} {
			r := ask(t, alone.Handler(), "GET", path, "", "", "X-Forwarded-Proto", proto)
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Permissions-Policy": featurePolicy, "Cross-Origin-Opener-Policy": "same-origin",
				"Strict-Transport-Security": map[string]string{"https": onlyTLS}[proto],
			} {
				if got := r.Header.Get(name); got != want {
					t.Errorf("%s, over %q: %s is %q, want %q", path, proto, name, got, want)
				}
			}
			if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") {
				t.Errorf("%s: policy %q, want one that forbids frames and all that it does not name", path, policy)
			}
		}
		if got := ask(t, framed.Handler(), "GET", path, "", "").Header.Get("Cross-Origin-Opener-Policy"); got != "" {
			t.Errorf("%s, with a host that may open the page: Cross-Origin-Opener-Policy %q, want none", path, got)
		}
	}
	if r := ask(t, alone.OpsHandler(), "GET", "http://localhost/metrics", "", ""); r.Header.Get("Content-Security-Policy") != noContentPolicy || r.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the operator's listener answers with %v, want hardened headers", r.Header)
	}
}

// recordedSecurity is a Security that remembers all calls.
type recordedSecurity struct {
	noSecurity

	mu     sync.Mutex
	counts map[string]int
	acts   []string
	fails  error
}

func (r *recordedSecurity) Count(kind, who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[kind+" "+who]++
}

func (r *recordedSecurity) Act(_ context.Context, actor, client, method string, request []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acts = append(r.acts, strings.Join([]string{actor, client, method, string(request)}, " "))
	return r.fails
}

func (r *recordedSecurity) count(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[key]
}

// TestAttacksLeaveATrace sends bad tokens over HTTP and sockets, and calls admin endpoints. Each must be recorded. An act
// that cannot be recorded must not be carried out.
func TestAttacksLeaveATrace(t *testing.T) {
	t.Parallel()
	record := &recordedSecurity{counts: map[string]int{}}
	s := newTestServer(t, func(o *Options) { o.Security = record })
	h, addr := s.Handler(), s.listen(t)
	admin, member := mint(t, auth.Claims{User: "root", Scope: auth.DefaultAdminScope}, time.Hour), goodToken(t, "ann")
	wantCount := func(key string, want int) {
		t.Helper()
		s.eventually(t, key, func() bool { return record.count(key) == want })
	}
	ask(t, h, "POST", "/v1/commands/wallet", "", "{}")
	ask(t, h, "POST", "/v1/admin/credit", "bad", "{}")
	wantCount("unauthorized 192.0.2.1", 2) // the address of httptest's requests
	c := dial(t, addr, wire.JSON)
	c.send(`{"id":1,"connect":{"token":"bad"}}`)
	c.mustClose(wire.CloseInvalidToken)
	if _, _, err := tryDial(addr, wire.JSON, http.Header{"Authorization": {"Bearer bad"}}); err == nil {
		t.Error("an upgrade with a bad token succeeded")
	}
	wantCount("unauthorized 127.0.0.1", 2)
	c = dial(t, addr, wire.JSON)
	c.connect(member, "{}")
	c.send(`{"id":2,"refresh":{"token":"bad"}}`)
	c.mustClose(wire.CloseInvalidToken)
	wantCount("unauthorized 127.0.0.1", 3)

	ask(t, h, "POST", "/v1/admin/credit", member, `{"user":"ann","amount":5,"key":"k"}`)
	ask(t, h, "GET", "/v1/admin/audit", member, "")
	wantCount("not_admin 192.0.2.1", 2)
	ask(t, h, "GET", "/v1/admin/audit", admin, "")
	wantCount("admin_read root", 1)
	const credit = `{"user":"ann","amount":5,"key":"k"}`
	mustAnswer[wire.AdjustReply](t, ask(t, h, "POST", "/v1/admin/credit", admin, credit), 200)
	if want := "root 192.0.2.1 credit " + credit; len(record.acts) != 1 || record.acts[0] != want {
		t.Errorf("acts %q, want %q", record.acts, want)
	}
	revoke(t, s, "ann")
	ask(t, h, "POST", "/v1/commands/wallet", member, "{}")
	wantCount("unauthorized 192.0.2.1", 3)

	record.fails = errors.New("not stored")
	if r := ask(t, h, "POST", "/v1/admin/credit", admin, `{"user":"bob","amount":5,"key":"l"}`); r.StatusCode != 500 {
		t.Errorf("a credit that cannot be recorded: status %d, want 500", r.StatusCode)
	}
	if w := mustAnswer[wire.WalletReply](t, ask(t, h, "POST", "/v1/commands/wallet", goodToken(t, "bob"), "{}"), 200); w.Balance != 0 {
		t.Errorf("the credit was made: balance %d", w.Balance)
	}
}

// linesWith counts the log lines that contain a text.
type linesWith struct {
	text  []byte
	count atomic.Int64
}

func (l *linesWith) Write(line []byte) (int, error) {
	if bytes.Contains(line, l.text) {
		l.count.Add(1)
	}
	return len(line), nil
}

// TestRefusedAdminCallsDoNotFillTheLog has a member call an admin endpoint in a loop. All calls must be counted, one a minute must be
// logged, and the member's rate of commands must refuse the others.
func TestRefusedAdminCallsDoNotFillTheLog(t *testing.T) {
	t.Parallel()
	const calls = 2 * api.CommandBurst
	lines := &linesWith{text: []byte("call of an admin endpoint refused")}
	record := &recordedSecurity{counts: map[string]int{}}
	s := newTestServer(t, limited(), func(o *Options) {
		now := time.Now()
		o.Now = func() time.Time { return now } // no call comes a minute later, and the limiter gives nothing back
		o.Local = memstore.NewLimiter(memstore.LimiterOptions{Now: o.Now})
		o.Security, o.Log = record, slog.New(slog.NewTextHandler(lines, nil))
	})
	token, handler, statuses := goodToken(t, "ann"), s.Handler(), map[int]int{}
	for range calls {
		statuses[ask(t, handler, "POST", "/v1/admin/credit", token, `{"user":"ann","amount":5,"key":"k"}`).StatusCode]++
	}
	if statuses[http.StatusForbidden] != api.CommandBurst || statuses[http.StatusTooManyRequests] != calls-api.CommandBurst {
		t.Errorf("statuses %v, want %d times %d, then %d", statuses, api.CommandBurst, http.StatusForbidden, http.StatusTooManyRequests)
	}
	if n := record.count("not_admin 192.0.2.1"); n != calls {
		t.Errorf("%d calls counted, want %d", n, calls)
	}
	if n := lines.count.Load(); n != 1 {
		t.Errorf("%d lines, want 1", n)
	}
	if unlogged, due := s.notAdmin.next(s.o.Now().Add(logEvery)); !due || unlogged != calls-1 {
		t.Errorf("a minute later: due %v, and %d calls before it were not logged, want %d", due, unlogged, calls-1)
	}
}
