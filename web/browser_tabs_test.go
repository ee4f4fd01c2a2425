package web

import (
	"net/http"
	"testing"

	"hongbao/store/enginetest"
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
