package console_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/web/host/hostapi"
)

// TestSessionEnds lets a session be idle, grow old, and lose its key.
func TestSessionEnds(t *testing.T) {
	c := newTestConsole(t)
	key := c.addKey("support", hostapi.Read)
	idle, active, auto := c.browser(), c.browser(), c.browser()
	for _, b := range []*browser{idle, active, auto} {
		b.signIn(key)
		b.want(b.send("GET", "/console/api/users", nil), 200, `"users":`)
	}
	auto.header.Set("X-Console", "auto")
	for range 3 {
		c.pass(11 * time.Minute)
		active.want(active.send("GET", "/console/api/users", nil), 200, `"users":`)
		auto.send("GET", "/console/api/overview", nil)
	}
	idle.want(idle.send("GET", "/console/api/users", nil), 401, "unauthorized")
	auto.want(auto.send("GET", "/console/api/overview", nil), 401, "unauthorized")
	for range 26 {
		c.pass(28 * time.Minute)
		active.send("GET", "/console/api/users", nil)
	}
	active.want(active.send("GET", "/console/api/users", nil), 401, "unauthorized")

	revoked := c.browser()
	revoked.signIn(key)
	cookie := revoked.cookie
	c.removeKeys()
	revoked.want(revoked.send("GET", "/console/api/users", nil), 401, "unauthorized")
	if revoked.cookie != "" {
		t.Error("the cookie of a session whose key is gone stays in the browser")
	}
	c.addKey("support", hostapi.Read) // with the same name
	revoked.cookie = cookie
	revoked.want(revoked.send("GET", "/console/api/users", nil), 401, "unauthorized")
}

// TestSessionIsBoundToTheBrowser checks the cookie: its attributes, that a sign-in ignores a planted one, and that no other text is a session.
func TestSessionIsBoundToTheBrowser(t *testing.T) {
	c := newTestConsole(t)
	key := c.addKey("support", hostapi.Read)
	b := c.browser()
	b.cookie = "planted"
	given := b.signIn(key).header.Get("Set-Cookie")
	for _, part := range []string{"Path=/console", "HttpOnly", "SameSite=Strict", "Max-Age=1800"} {
		if !strings.Contains(given, part) {
			t.Errorf("cookie %q lacks %s", given, part)
		}
	}
	if strings.Contains(given, "Secure") || strings.Contains(given, "planted") {
		t.Errorf("cookie %q over plain HTTP", given)
	}
	first := b.cookie
	if b.signIn(key); b.cookie == first {
		t.Error("a second sign-in has the same session")
	}
	b.cookie = first
	b.want(b.send("GET", "/console/session", nil), 200, `"person":"Mei"`)
	for name, cookie := range map[string]string{
		"none": "", "other text": "x", "cut": first[:len(first)-1], "changed": swapped(first), "of the key": key,
	} {
		stranger := c.browser()
		stranger.cookie = cookie
		if got := stranger.send("GET", "/console/api/users", nil); got.status != http.StatusUnauthorized {
			t.Errorf("cookie with %s: status %d", name, got.status)
		}
		stranger.cookie = cookie
		if got := stranger.send("GET", "/console/session", nil); string(got.body) != `{"keys":true}` {
			t.Errorf("cookie with %s: %s", name, got.body)
		}
	}
	b.header.Set("X-Forwarded-Proto", "https")
	if given := b.signIn(key).header.Get("Set-Cookie"); !strings.Contains(given, "Secure") {
		t.Errorf("behind a proxy with TLS the cookie is %q", given)
	}
	if out := b.send("DELETE", "/console/session", nil).header.Get("Set-Cookie"); !strings.Contains(out, "Max-Age=0") {
		t.Errorf("after signing out the cookie is %q", out)
	}
	signIns := 0
	for _, act := range c.acts() {
		if act.Method == "console_sign_in" && act.Person == "Mei" && act.Actor == "key/support" {
			signIns++
		}
	}
	if signIns != 3 {
		t.Errorf("%d sign-ins are stored, want 3", signIns)
	}
}

// swapped returns the text with one character in its middle changed.
func swapped(text string) string {
	b, i := []byte(text), len(text)/2
	if b[i]++; b[i] > 'y' {
		b[i] = 'a'
	}
	return string(b)
}

// TestForeignSitesCannotAct sends requests as another site could make a browser send them.
func TestForeignSitesCannotAct(t *testing.T) {
	c := newTestConsole(t)
	b := c.browser()
	b.signIn(c.addKey("all", hostapi.Admin))
	cookie := b.cookie
	known(c, "bob")
	for name, header := range map[string]http.Header{
		"a form":          {"Content-Type": {"text/plain"}},
		"another origin":  {"X-Console": {"page"}, "Origin": {"http://evil.example"}},
		"a null origin":   {"X-Console": {"page"}, "Origin": {"null"}},
		"another site":    {"X-Console": {"page"}, "Sec-Fetch-Site": {"cross-site"}},
		"a neighbour":     {"X-Console": {"page"}, "Sec-Fetch-Site": {"same-site"}},
		"an address line": {"Sec-Fetch-Site": {"none"}},
	} {
		foreign := &browser{testConsole: c, cookie: cookie, header: header}
		for _, request := range [][2]string{{"POST", "/console/api/users/bob/suspend?reason=x"}, {"DELETE", "/console/session"}, {"POST", "/console/session"}, {"GET", "/console/api/users"}} {
			if got := foreign.send(request[0], request[1], nil); got.status != http.StatusBadRequest {
				t.Errorf("%s, %v: status %d: %s", name, request, got.status, got.body)
			}
		}
	}
	preflight := &browser{testConsole: c, header: http.Header{"Origin": {"http://evil.example"}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"x-console"}}}
	if got := preflight.send("OPTIONS", "/console/api/users/bob/suspend", nil); got.header.Get("Access-Control-Allow-Origin") != "" || got.header.Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("a preflight gets leave: %v", got.header)
	}
	if u, err := c.rooms.UserRecord(t.Context(), "bob"); err != nil || u.Suspended() {
		t.Errorf("bob is %+v, %v", u, err)
	}
	b.header.Set("Origin", c.URL)
	b.header.Set("Sec-Fetch-Site", "same-origin")
	b.want(b.send("POST", "/console/api/users/bob/suspend?reason=spam", nil), 200, `"suspended_at"`)
}

// TestScopesOfTheKeyCount acts with keys of few scopes.
func TestScopesOfTheKeyCount(t *testing.T) {
	c := newTestConsole(t)
	known(c, "bob")
	for _, try := range []struct {
		scope   hostapi.Scope
		allowed []string
	}{
		{hostapi.Read, []string{"GET users"}},
		{hostapi.Support, []string{"GET users"}},
		{hostapi.Moderate, []string{"GET reports", "POST users/bob/suspend?reason=r"}},
		{hostapi.Money, []string{"POST users/bob/wallet/freeze?reason=r"}},
		{hostapi.Admin, []string{"GET users", "GET acts", "GET reports", "POST users/bob/suspend?reason=r", "POST users/bob/wallet/freeze?reason=r", "POST audit?reason=r"}},
	} {
		b := c.browser()
		b.signIn(c.addKey("of-"+string(try.scope), try.scope))
		for _, request := range []string{"GET users", "GET acts", "GET reports", "POST users/bob/suspend?reason=r", "POST users/bob/wallet/freeze?reason=r", "POST audit?reason=r"} {
			verb, path, _ := strings.Cut(request, " ")
			body := any(nil)
			if strings.HasPrefix(path, "audit") {
				body = map[string]bool{}
			}
			want := http.StatusForbidden
			if slices.Contains(try.allowed, request) {
				want = http.StatusOK
			}
			if got := b.send(verb, "/console/api/"+path, body); got.status != want {
				t.Errorf("scope %s, %s: status %d: %s, want %d", try.scope, request, got.status, got.body, want)
			}
		}
	}
}

// TestActsNameThePersonAndWhy acts with and without a reason.
func TestActsNameThePersonAndWhy(t *testing.T) {
	c := newTestConsole(t)
	known(c, "bob")
	b := c.browser()
	b.signIn(c.addKey("mods", hostapi.Moderate))
	before := len(c.acts())
	b.want(b.send("POST", "/console/api/users/bob/suspend", nil), 400, "reason")
	if u, err := c.rooms.UserRecord(t.Context(), "bob"); err != nil || u.Suspended() || len(c.acts()) != before {
		t.Errorf("without a reason bob is %+v, %v, and %d acts are stored, want %d", u, err, len(c.acts()), before)
	}
	b.want(b.send("POST", "/console/api/users/bob/suspend?reason=spam", nil), 200, `"suspended_at"`)
	if act := c.act("suspend_user"); act.Actor != "key/mods" || act.Person != "Mei" || act.Reason != "spam" || act.Client != "127.0.0.1" {
		t.Errorf("stored %+v", act)
	}
	// A request with a key of its own is no request of a person, even beside a session.
	b.header.Set("Authorization", "Bearer nonsense")
	b.want(b.send("POST", "/console/api/users/bob/reinstate?reason=mistake", nil), 200, `"user"`)
	b.want(b.send("POST", "/v1/server/users/bob/suspend?reason=spam", nil), 401, "unauthorized")
}

// TestTriesAreBounded tries wrong keys from one address, and then the right one from another.
func TestTriesAreBounded(t *testing.T) {
	c := newTestConsole(t)
	key := c.addKey("support", hostapi.Read)
	post := func(address, key string) int {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/console/session", strings.NewReader(`{"key":"`+key+`","person":"Mei"}`))
		r.RemoteAddr, r.Header = address, http.Header{"X-Console": {"page"}}
		c.handler.ServeHTTP(w, r)
		return w.Code
	}
	refused := 0
	for range 30 {
		switch post("192.0.2.1:1000", "hbk_wrong") {
		case http.StatusTooManyRequests:
			refused++
		case http.StatusUnauthorized:
		default:
			t.Fatal("a wrong key gets in")
		}
	}
	if refused < 15 {
		t.Errorf("%d of 30 tries were refused unseen", refused)
	}
	if got := post("192.0.2.1:1000", key); got != http.StatusTooManyRequests {
		t.Errorf("a right key from an address without tries left: status %d", got)
	}
	refused = 0
	for i := range 400 { // one network of IPv6 has many addresses
		if post("[2001:db8::"+string("0123456789abcdef"[i%16])+string("0123456789abcdef"[i/16%16])+"]:1000", "hbk_wrong") == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused < 380 {
		t.Errorf("%d of 400 tries of one network were refused", refused)
	}
	if got := post("198.51.100.7:1000", key); got != http.StatusOK {
		t.Errorf("another address is locked out: status %d", got)
	}
}

// TestStrangersLearnNothing asks without a session.
func TestStrangersLearnNothing(t *testing.T) {
	c := newTestConsole(t)
	b := c.browser()
	if got := b.send("GET", "/console/session", nil); string(got.body) != `{"keys":false}` {
		t.Errorf("without keys: %s", got.body)
	}
	c.addKey("support", hostapi.Read)
	if got := b.send("GET", "/console/session", nil); string(got.body) != `{"keys":true}` {
		t.Errorf("with keys: %s", got.body)
	}
	for _, path := range []string{"/console/api/users", "/console/api/", "/console/api/../../metrics", "/console/api/nonsense", "/console/session/x", "/console/../v1/server/users"} {
		if got := b.send("GET", path, nil); got.status == http.StatusOK {
			t.Errorf("%s: status %d: %s", path, got.status, got.body)
		}
	}
	for _, path := range []string{"/console", "/console/", "/console/console.js", "/console/style.css", "/console/vendor/preact.mjs", "/console/session"} {
		got := b.send("GET", path, nil)
		policy := got.header.Get("Content-Security-Policy")
		if got.status >= 400 || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") || got.header.Get("Cache-Control") != "no-store" || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: status %d, header %v", path, got.status, got.header)
		}
	}
	for _, person := range []string{"", " ", strings.Repeat("名", 65), "a\u202eb", "a\nb"} {
		b.want(b.send("POST", "/console/session", map[string]string{"key": "x", "person": person}), 400, "field=person")
	}
	b.want(b.send("POST", "/console/session", "text"), 400, "field=data")
	b.want(b.send("POST", "/console/session", map[string]string{"key": strings.Repeat("x", 5000), "person": "Mei"}), 400, "field=data")
}

// TestIDsAreEscaped asks for users whose ids have signs that are escaped in an address.
func TestIDsAreEscaped(t *testing.T) {
	c := newTestConsole(t)
	known(c, "a:b@c.d")
	b := c.browser()
	b.signIn(c.addKey("support", hostapi.Read))
	b.want(b.send("GET", "/console/api/users/a%3Ab%40c.d", nil), 200, `"id":"a:b@c.d"`)
	b.want(b.send("GET", "/console/api/users/a%3Ab%40c.d/rooms", nil), 200, `"rooms":[]`)
	b.want(b.send("GET", "/console/api/users/a%2Fb", nil), 400, "field=user")
}

// known creates users, as their tokens would.
func known(c *testConsole, users ...string) {
	c.Helper()
	for _, u := range users {
		noError(c, c.rooms.SignIn(c.Context(), chat.User{ID: u, Name: "Name of " + u}))
	}
}
