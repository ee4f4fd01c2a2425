package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/store/enginetest"
	"hongbao/web/user/push"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// hearsNoStorage lets a page miss that another tab has stored something, as a page misses it that the browser has frozen.
const hearsNoStorage = `addEventListener('storage', (e) => e.stopImmediatePropagation(), true)`

// twoTabs are two tabs of one browser.
type twoTabs struct {
	s           *testServer
	ann, second *webtest.Visitor
	annsToken   string
	bob         *httpGuest
}

// tabsOfTwoGuests opens a tab of Ann. A second tab of the same browser then takes Bob over by a device link. The first tab hears of it only if
// hears is true.
func tabsOfTwoGuests(t *testing.T, hears bool) twoTabs {
	t.Helper()
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	ann := webtest.Browser(t).Visit(t, page, webtest.Screen{})
	if !hears {
		ann.InjectScript(hearsNoStorage)
		ann.Reload()
	}
	ann.Fill("What may we call you?", "Ann")
	ann.Key("\r")
	ann.Has("button", "Ann open settings")
	annsToken := storedGuest(ann)
	code := mustAnswer[wire.DeviceCodeReply](t, ask(t, s.Handler(), "POST", "/v1/guests/device_code", bob.Token, ""), 200).Code
	second := ann.Again(t, page+"/#/device/"+code, webtest.Screen{})
	second.Press("button", "Use it here")
	second.Has("button", "Bob open settings")
	return twoTabs{s, ann, second, annsToken, bob}
}

// storedGuest returns the guest's token that the browser keeps; "": none.
func storedGuest(v *webtest.Visitor) string {
	return webtest.Ask[string](v.Tab, `localStorage.getItem('hongbao-guest') ?? ''`)
}

// guestOf returns the guest of a token, as the server has it now. Its ID is "" if the server refuses the token.
func (s *testServer) guestOf(t *testing.T, token string) wire.User {
	t.Helper()
	answer := ask(t, s.Handler(), "POST", "/v1/guests/renew", token, "")
	if answer.StatusCode == http.StatusUnauthorized {
		return wire.User{}
	}
	return mustAnswer[wire.GuestReply](t, answer, http.StatusOK).User
}

// TestBrowserTabEndsWhenAnotherGuestIsStored has a second tab take another guest over. The first tab must end and say why. It goes on as the
// guest that the browser keeps.
func TestBrowserTabEndsWhenAnotherGuestIsStored(t *testing.T) {
	enginetest.Nightly(t, "page")
	ann := tabsOfTwoGuests(t, true).ann
	ann.Sees("This tab has stopped", "another guest")
	ann.Press("button", "Continue here")
	ann.Has("button", "Bob open settings")
}

// TestBrowserTabRenamesOnlyItsOwnGuest changes the name in a tab that has missed that the browser keeps another guest.
func TestBrowserTabRenamesOnlyItsOwnGuest(t *testing.T) {
	enginetest.Nightly(t, "page")
	two := tabsOfTwoGuests(t, false)
	s, ann, token, bob := two.s, two.ann, two.annsToken, two.bob
	ann.Press("button", "Settings")
	ann.Press("button", "Change name and picture")
	ann.Fill("Name", "Anna")
	ann.Press("button", "Save")
	ann.Has("button", "Change name and picture")
	if got := s.guestOf(t, token).Name; got != "Anna" {
		t.Errorf("the guest of the tab is named %q", got)
	}
	if got := s.guestOf(t, bob.Token).Name; got != "Bob" {
		t.Errorf("the other guest is named %q", got)
	}
}

// TestBrowserTabSignsOutOnlyItsOwnGuest signs out in a tab that has missed that the browser keeps another guest.
func TestBrowserTabSignsOutOnlyItsOwnGuest(t *testing.T) {
	enginetest.Nightly(t, "page")
	two := tabsOfTwoGuests(t, false)
	s, ann, second, token, bob := two.s, two.ann, two.second, two.annsToken, two.bob
	bobs := storedGuest(second)
	ann.Press("button", "Settings")
	ann.Press("button", "Sign out")
	ann.Press("button", "Sign out")
	ann.Has("button", "Bob open settings")
	if got := storedGuest(second); got != bobs {
		t.Errorf("the browser keeps the token %q, want Bob's", got)
	}
	if got := s.guestOf(t, bobs).ID; got != bob.User.ID {
		t.Error("Bob's token is revoked")
	}
	if got := s.guestOf(t, token).ID; got != "" {
		t.Error("Ann's token is accepted after the sign-out")
	}
}

// TestBrowserEndedTabForgetsOnlyItsOwnGuest ends the session of a tab that has missed that the browser keeps another guest.
func TestBrowserEndedTabForgetsOnlyItsOwnGuest(t *testing.T) {
	enginetest.Nightly(t, "page")
	two := tabsOfTwoGuests(t, false)
	s, ann, second, token := two.s, two.ann, two.second, two.annsToken
	bobs := storedGuest(second)
	s.pub.CloseSockets(s.guestOf(t, token).ID, "", wire.CloseRevoked)
	ann.Press("button", "Sign in again")
	ann.Has("button", "Bob open settings")
	if got := storedGuest(second); got != bobs {
		t.Errorf("the browser keeps the token %q, want Bob's", got)
	}
}

// storesBlindly makes a page one of an origin that is not secure, so that it has no navigator.locks. Until it stores a guest's token, it does not see that another
// tab has stored one: the tabs are processes of their own, and each stores before it hears of the other.
const storesBlindly = `delete Navigator.prototype.locks;
const { getItem, setItem } = Storage.prototype;
Storage.prototype.getItem = function get(name) { return name === 'hongbao-guest' && !globalThis.hasStored ? null : getItem.call(this, name); };
Storage.prototype.setItem = function set(name, text) { setItem.call(this, name, text); globalThis.hasStored ||= name === 'hongbao-guest'; };`

// TestBrowserTwoTabsMakeOneGuest signs in from two tabs before the server has answered either. Both must be the guest that the browser keeps. Where the browser has
// locks, the server must be asked for one guest only.
func TestBrowserTwoTabsMakeOneGuest(t *testing.T) {
	enginetest.Nightly(t, "page")
	for _, locks := range []bool{true, false} {
		t.Run(fmt.Sprint("locks ", locks), func(t *testing.T) {
			s := newTestServer(t, withGuests)
			var guests atomic.Int32
			held, connecting := make(chan struct{}), make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/v1/guests":
					guests.Add(1)
					<-held
				case "/v1/socket":
					<-connecting
				}
				s.Handler().ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close)
			answer, connect := sync.OnceFunc(func() { close(held) }), sync.OnceFunc(func() { close(connecting) })
			t.Cleanup(answer) // before the server is closed
			t.Cleanup(connect)

			ann := webtest.Browser(t).Visit(t, "about:blank", webtest.Screen{})
			tabs := []*webtest.Visitor{ann, ann.Again(t, "about:blank", webtest.Screen{})}
			for _, tab := range tabs {
				if !locks {
					tab.InjectScript(storesBlindly)
					tab.Expect("WebSocket is closed before the connection is established") // the tab goes on as the other guest
				}
				tab.Do(chromedp.Navigate(server.URL))
				tab.Has("textbox", "What may we call you?")
			}
			for _, tab := range tabs {
				tab.Fill("What may we call you?", "Ann")
				tab.Key("\r")
				tab.Sees("Coming in…")
			}
			answer()
			for _, tab := range tabs {
				s.eventually(t, "both tabs read the same guest", func() bool {
					return (locks || webtest.Ask[bool](tab.Tab, `Boolean(globalThis.hasStored)`)) && storedGuest(tab) != "" && storedGuest(tab) == storedGuest(ann)
				})
			}
			connect()
			for _, tab := range tabs {
				tab.Has("button", "Ann open settings")
			}
			s.eventually(t, "both tabs are connected as the guest that the browser keeps", func() bool {
				return s.hub.Connections() == 2 && s.hub.Listeners(push.UserTopic(userID(ann))) == 2
			})
			if n := guests.Load(); locks && n != 1 {
				t.Errorf("the server was asked for %d guests, want 1", n)
			}
		})
	}
}
