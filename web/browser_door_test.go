package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"hongbao/store/enginetest"
	"hongbao/web/user/auth"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// These tests use the page in a browser, as users do. Their names exclude them from runs with the race detector.

func withGuests(o *Options) { o.Guests = Guests{Key: testGuestKey, Credit: 1000} }

// TestBrowserGuest signs in as a guest. Only a name may be required. The browser must keep the guest until they sign
// out.
func TestBrowserGuest(t *testing.T) {
	enginetest.Nightly(t, "page")
	page := "http://" + newTestServer(t, withGuests).listen(t)
	ann := webtest.Browser(t).Visit(t, page, webtest.Screen{Phone: true})
	ann.Press("button", "Come in")
	ann.Sees("Please say what others may call you.")
	ann.Fill("What may we call you?", strings.Repeat("🧧", 65))
	ann.Key("\r")
	ann.Sees("Please use at most 64 characters.")
	ann.Fill("What may we call you?", "<b>Ann</b>")
	ann.Key("\r")
	ann.Sees("No rooms yet", "<b>Ann</b>")
	ann.Reload()
	ann.Sees("No rooms yet", "<b>Ann</b>")

	other := ann.Again(t, page, webtest.Screen{Language: "zh-CN"})
	other.Sees("还没有群聊", "<b>Ann</b>")
	ann.Press("button", "Settings")
	ann.Press("radio", "Dark")
	ann.Press("switch", "Sound")
	ann.Reload()
	ann.Sees("Sign out")
	if kept := webtest.Ask[string](ann.Tab, `document.documentElement.dataset.theme + document.querySelector('[role=switch]').checked`); kept != "darktrue" {
		t.Errorf("after a reload: %s", kept)
	}
	ann.Press("button", "Sign out")
	ann.Sees("Guests can’t come back")
	ann.Press("button", "Sign out")
	ann.Sees("What may we call you?")
	other.Sees("你已在另一个标签页退出登录")
	if kept := webtest.Ask[string](ann.Tab, `localStorage.getItem('hongbao-guest') ?? 'nothing'`); kept != "nothing" {
		t.Errorf("the browser still has %s", kept)
	}
}

// TestBrowserGuestTokenIsRenewedAndRevoked reloads the page with a guest's token that is some days old: the browser must get
// a newer one. After the guest has signed out there, no token of the guest may be accepted.
func TestBrowserGuestTokenIsRenewedAndRevoked(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	ann := webtest.Browser(t).Visit(t, page, webtest.Screen{})
	ann.Fill("What may we call you?", "Ann")
	ann.Key("\r")
	ann.Sees("No rooms yet")
	kept := func() string { return webtest.Ask[string](ann.Tab, `localStorage.getItem('hongbao-guest') ?? ''`) }
	identity, err := s.tokens.Verify(t.Context(), kept())
	noError(t, err)
	old := signGuest(t, wire.User{ID: identity.User.ID, Name: "Ann"}, time.Now().Add(-50*time.Hour))
	webtest.Ask[bool](ann.Tab, `localStorage.setItem('hongbao-guest', '`+old+`'), true`)
	ann.Reload()
	ann.Sees("No rooms yet")
	s.eventually(t, "the browser has a newer token", func() bool { return kept() != old })
	newer := kept()
	if id, err := s.tokens.Verify(t.Context(), newer); err != nil || id.User.ID != identity.User.ID || time.Since(id.Issued) > time.Minute {
		t.Errorf("the browser has a token of %+v, %v; want one of %s, issued now", id, err, identity.User.ID)
	}
	ann.Press("button", "Settings")
	ann.Press("button", "Sign out")
	ann.Press("button", "Sign out")
	ann.Sees("What may we call you?")
	for _, token := range []string{old, newer} {
		mustAnswer[wire.ErrorBody](t, ask(t, s.Handler(), "POST", "/v1/commands/wallet", token, "{}"), 401)
	}
}

// TestBrowserToken signs in on a server without guests. A token must be required, and the browser must not store it.
func TestBrowserToken(t *testing.T) {
	enginetest.Nightly(t, "page")
	page := "http://" + newTestServer(t).listen(t)
	ann := webtest.Browser(t).Visit(t, page, webtest.Screen{})
	ann.Sees("open it from there", "hongbao token --user ann")
	ann.Fill("Token", "nonsense")
	ann.Press("button", "Come in")
	ann.Sees("The server doesn’t accept this token.")
	ann.Fill("Token", goodToken(t, "ann"))
	ann.Press("button", "Come in")
	ann.Sees("Name of ann")
	if kept := webtest.Ask[string](ann.Tab, `JSON.stringify({ ...localStorage, ...sessionStorage })`); strings.Contains(kept, "ey") {
		t.Errorf("the browser keeps %s", kept)
	}
	ann.Reload()
	ann.Sees("open it from there")
}

// hostPage is the page of a host. It shows the chat in a frame, can open it in a window, and answers every request for
// a token.
const hostPage = `<!doctype html><title>host</title><link rel="icon" href="data:,"><script>
  window.asked = [];
  addEventListener('message', async (e) => {
    asked.push(e.data.hongbao);
    const hongbaoToken = await (await fetch('token')).text();
    e.source.postMessage({ hongbaoToken }, e.origin);
  });
  addEventListener('click', () => open(document.querySelector('iframe').src));
</script><button>Open</button><iframe src="%s"></iframe>`

// openHost serves a hostPage that embeds the given page, and tokens that are valid for ttl. It returns the host's
// origin.
func openHost(t *testing.T, page *string, ttl time.Duration) (origin string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, hostPage, *page) })
	mux.HandleFunc("GET /token", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(mint(t, auth.Claims{User: "ann"}, ttl)))
	})
	host := httptest.NewServer(mux)
	t.Cleanup(host.Close)
	return host.URL
}

// TestBrowserHost embeds the page in an allowed host and in another one. The allowed host must be asked for a token
// again when one expires. Tokens of the other host must be ignored.
func TestBrowserHost(t *testing.T) {
	enginetest.Nightly(t, "page")
	var page string
	host, stranger := openHost(t, &page, 4*time.Second), openHost(t, &page, time.Hour)
	s := newTestServer(t, func(o *Options) { o.AllowedOrigins = []string{host} })
	page = "http://" + s.listen(t)
	users := func() int {
		r := ask(t, s.Handler(), "GET", "/v1/admin/stats", adminToken(t), "")
		return mustAnswer[struct{ Users int }](t, r, 200).Users
	}
	browser := webtest.Browser(t)

	mallory := browser.Visit(t, stranger, webtest.Screen{})
	mallory.Expect("frame-ancestors")
	mallory.Press("button", "Open")
	awaitAsk(t, mallory, `asked.length > 0`)
	time.Sleep(300 * time.Millisecond) // sleeps: time for a sign-in that must not happen
	if n := users(); n != 0 {
		t.Errorf("a stranger's token let %d in", n)
	}

	ann := browser.Visit(t, host, webtest.Screen{})
	awaitAsk(t, ann, `asked.includes('token-over')`)
	s.eventually(t, "ann is in", func() bool { return users() == 1 })
	again := ann.Again(t, page, webtest.Screen{})
	again.Sees("open it from there") // the browser stored nothing
}

// TestBrowserHostAnswersLate frames the page in a host that answers after the page has stopped waiting and has signed in the guest of the
// browser. The host's user must take the guest's place, and the guest must stay in the browser.
func TestBrowserHostAnswersLate(t *testing.T) {
	enginetest.Nightly(t, "page")
	var page string
	slow := strings.Replace(hostPage, "const hongbaoToken", "await new Promise((r) => setTimeout(r, 2500)); const hongbaoToken", 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, slow, page) })
	mux.HandleFunc("GET /token", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(mint(t, auth.Claims{User: "ann", Name: "Ann of the host"}, time.Hour)))
	})
	host := httptest.NewServer(mux)
	t.Cleanup(host.Close)
	s := newTestServer(t, withGuests, func(o *Options) { o.AllowedOrigins = []string{host.URL} })
	page = "http://" + s.listen(t)
	guest := visitAsGuest(t, webtest.Browser(t), page, "Guest", webtest.Screen{})
	token := storedGuest(guest)
	framed := guest.Again(t, host.URL, webtest.Screen{})
	awaitAsk(t, framed, `asked.length > 0`)
	s.eventually(t, "the host's user is connected", func() bool {
		online, err := s.chat.MembersOnline(t.Context(), []string{"ann"})
		return err == nil && online[0]
	})
	s.eventually(t, "only the guest's own tab has the guest's socket", func() bool { return s.hub.Connections() == 2 })
	if got := storedGuest(guest); got != token {
		t.Errorf("the browser keeps the token %q of the guest, want %q", got, token)
	}
}

// awaitAsk waits until a JavaScript condition holds on the visitor's page.
func awaitAsk(t *testing.T, v *webtest.Visitor, condition string) {
	t.Helper()
	webtest.Ask[bool](v.Tab, fmt.Sprintf(`new Promise((resolve) => {
		const look = () => (%s ? resolve(true) : setTimeout(look, 20));
		look();
	})`, condition))
}

// TestBrowserLink interrupts the connection. The page must show the interruption and the recovery, and its layout must
// not move.
func TestBrowserLink(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	ann := webtest.Browser(t).Visit(t, page, webtest.Screen{})
	ann.Fill("What may we call you?", "Ann")
	ann.Key("\r")
	ann.Sees("No rooms yet")
	where := func() string {
		t.Helper()
		return webtest.Ask[string](ann.Tab, `JSON.stringify([...document.querySelectorAll('h2, button')].map((e) => e.getBoundingClientRect().top))`)
	}
	ann.Expect("closed before the connection is established") // attempts that the SDK gives up when it finds a better transport
	before := where()
	cut(t, ann, true)
	ann.Sees("You’re offline")
	if now := where(); now != before {
		t.Errorf("what stood at %s stands at %s", before, now)
	}
	webtest.Ask[int](ann.Tab, `window.back = false, new MutationObserver(() => {
		back ||= document.body.innerText.includes('Back again');
	}).observe(document.body, { subtree: true, childList: true, characterData: true }), 0`) // it is shown for 2 s
	cut(t, ann, false)
	awaitAsk(t, ann, `back`)
	ann.Misses("Back again")
}

func cut(t *testing.T, v *webtest.Visitor, offline bool) {
	t.Helper()
	_, err := webtest.Try(v.Tab, func(ctx context.Context, target *chromedp.Target) (json.RawMessage, error) {
		_, err := cdp.Call(ctx, target, network.OverrideNetworkState, network.OverrideNetworkStateParams{
			Offline: offline, DownloadThroughput: -1, UploadThroughput: -1,
		})
		return nil, err
	})
	noError(t, err)
}
