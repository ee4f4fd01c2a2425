package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserCompose sends packets of each kind. The amounts to tap are those that the user can send, the amount of each share is
// multiplied, limits are told when they are passed, and the skin reaches other users, also by history.
func TestBrowserCompose(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	browser := webtest.Browser(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	bob := visitAsGuest(t, browser, page, "Bob", webtest.Screen{Phone: true, Dark: true})
	cyn := s.httpGuest(t, "Cyn")
	room := cyn.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q]`, userID(ann), userID(bob)).Room.ID
	for _, v := range []*webtest.Visitor{ann, bob} {
		v.Press("link", "Tea")
	}
	ann.Press("button", "Send a red packet")
	ann.Has("textbox", "Total")
	ann.Lacks("button", "¥88.88") // more than the user has
	if text := ann.Text(); strings.Contains(text, "At most") {
		t.Errorf("a limit is told that is not passed:\n%s", text)
	}
	ann.Fill("How many shares", "10001")
	ann.Sees("At most 10,000 shares")
	ann.Fill("How many shares", "2")
	ann.Press("radio", "Same for each")
	ann.Press("button", "¥6.66")
	ann.Sees("You have ¥10.00 in your wallet")
	ann.Fill("Amount for each", "3.33")
	ann.Sees("¥6.66 altogether")
	ann.Press("radio", "Koi")
	ann.Fill("Greeting", "for tea")
	if class := webtest.Ask[string](ann.Tab, `document.querySelector('.compose-preview .envelope').className + document.querySelector('.compose-preview').innerText`); !strings.Contains(class, "skin-koi") ||
		!strings.Contains(class, "for tea") {
		t.Errorf("the preview shows %q", class)
	}
	ann.Press("button", "Send ¥6.66")
	for range 2 {
		bob.Has("button", "for tea")
		awaitAsk(t, bob, `document.querySelector('.envelope.skin-koi')`)
		bob.Reload()
	}
	bob.Press("button", "for tea")
	awaitAsk(t, bob, `document.querySelector('.opening.skin-koi')`)
	bob.Press("button", "Open")
	bob.Sees("¥3.33", "in your wallet")
	bob.Press("button", "Close")

	ann.Press("button", "Send a red packet")
	ann.Press("radio", "For one person")
	ann.Lacks("textbox", "How many shares")
	ann.Fill("Amount", "1")
	ann.Press("button", "Send ¥1.00")
	ann.Sees("Choose at least one person.")
	ann.Press("radio", "Cyn")
	ann.Press("radio", "Bob") // instead
	ann.Fill("Greeting", "only Bob")
	ann.Press("button", "Send ¥1.00")
	bob.Press("button", "only Bob")
	bob.Sees("For you")
	history := cyn.history(room)
	if to := history[len(history)-1].To; !slices.Equal(to, []string{userID(bob)}) {
		t.Errorf("the packet is for %q", to)
	}
}

// TestBrowserComposeDirect sends a packet in a direct room: it asks for neither a kind nor a count.
func TestBrowserComposeDirect(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	bob.does("direct", `"user":%q`, userID(ann))
	ann.Press("link", "Bob")
	ann.Press("button", "Send a red packet")
	ann.Has("textbox", "Amount")
	ann.Lacks("textbox", "How many shares")
	ann.Lacks("radio", "Lucky")
	ann.Fill("Amount", "2")
	ann.Press("button", "Send ¥2.00")
	ann.Lacks("dialog", "")
	ann.Sees("For Bob", "1 share")
}

// TestBrowserThanks thanks for a packet from its opened card, and from below its envelope: with an emoji, in words, and with a packet back.
func TestBrowserThanks(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	browser := webtest.Browser(t)
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	cyn := visitAsGuest(t, browser, page, "Cyn", webtest.Screen{Phone: true})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q]`, userID(ann), userID(cyn)).Room.ID
	bob.packet(room, 100, 2, `,"greeting":"for tea"`)
	for _, v := range []*webtest.Visitor{ann, cyn} {
		v.Press("link", "Tea")
		v.Press("button", "for tea")
		v.Press("button", "Open")
		v.Sees("in your wallet")
	}
	ann.Press("button", "Thank with 🎉")
	awaitAsk(t, ann, `document.querySelector('.opening .thanks [aria-pressed=true]')`)
	ann.Press("button", "Close")
	ann.Has("button", "🎉 1")
	ann.Lacks("button", "Thank you!") // once is enough

	cyn.Press("button", "Close")
	cyn.Has("button", "🎉 1")
	cyn.Reload()
	cyn.Has("button", "🎉 1")
	ann.Press("button", "for tea")
	ann.Has("button", "Verify")
	if text := ann.Text(); strings.Contains(text, "Send one back") {
		t.Errorf("the details offer thanks:\n%s", text)
	}
	ann.Press("button", "Close")

	bob.packet(room, 100, 2, `,"greeting":"for cake"`)
	cyn.Press("button", "for cake")
	cyn.Press("button", "Open")
	cyn.Sees("in your wallet")
	cyn.Press("button", "Close")
	cyn.Press("button", "Thank you!")
	cyn.Sees("Thank you! 🧧")
	cyn.Lacks("button", "Thank you!")
	cyn.Lacks("image", "Being sent")
	history := bob.history(room)
	if reply := history[len(history)-1]; reply.ReplyTo != reply.seq-1 {
		t.Errorf("the thanks answer seq %d", reply.ReplyTo)
	}

	bob.packet(room, 100, 2, `,"greeting":"for the rest"`)
	ann.Press("button", "for the rest")
	ann.Press("button", "Open")
	ann.Sees("in your wallet")
	ann.Press("button", "Send one back")
	ann.Has("radio", "For one person")
	ann.Fill("Amount", "1")
	ann.Press("button", "Send ¥1.00")
	ann.Sees("For Bob")
}

// TestBrowserOpenedCard opens packets. The card must list which user got what. Sound is off until the user switches it on at the closed envelope.
// Phones vibrate, unless the user prefers reduced motion.
func TestBrowserOpenedCard(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	browser := webtest.Browser(t)
	page := "http://" + s.listen(t)
	for name, c := range map[string]struct {
		screen          webtest.Screen
		vibrates, rings bool
	}{
		"Ann": {webtest.Screen{Phone: true}, true, true},
		"Cyn": {webtest.Screen{Calm: true}, false, false},
	} {
		v := visitAsGuest(t, browser, page, name, c.screen)
		v.InjectScript(`window.shaken = 0, window.rung = 0;
			Navigator.prototype.vibrate = () => { shaken++; return true; };
			AudioContext = class extends AudioContext { constructor() { super(); rung++; } };`)
		v.Reload()
		room := bob.does("create_room", `"name":"Tea of %s","kind":"public","members":[%q]`, name, userID(v)).Room.ID
		v.Press("link", "Tea of "+name)
		for n, greeting := range []string{"first", "second"} {
			packet := bob.packet(room, 100, 3, fmt.Sprintf(`,"greeting":%q`, greeting))
			bob.grab(packet.ID)
			v.Press("button", greeting)
			if rung := webtest.Ask[int](v.Tab, `rung`); rung != 0 {
				t.Errorf("%s: the page plays sound unasked", name)
			}
			if c.rings && n == 0 {
				v.Press("button", "Sound")
			}
			v.Press("button", "Open")
			v.Sees("in your wallet")
			awaitAsk(t, v, `[...document.querySelectorAll('.opening-card .claim-name')].map((e) => e.innerText).join() === 'Bob,You'`)
			if got := webtest.Ask[[2]bool](v.Tab, `[shaken > 0, rung > 0]`); got != [2]bool{c.vibrates, c.rings} {
				t.Errorf("%s: the page vibrates, rings: %v, want %t, %t", name, got, c.vibrates, c.rings)
			}
			v.Press("button", "Close")
			v.Lacks("dialog", "")
			v.Reload()
			v.Has("button", greeting)
		}
	}
}

// said is what the tests read of an entry.
type said struct {
	seq     int64
	To      []string `json:"to"`
	ReplyTo int64    `json:"reply_to"`
}

// history reads the newest entries of a room.
func (a *httpGuest) history(room string) (entries []said) {
	a.t.Helper()
	got := mustAnswer[wire.HistoryReply](a.t, ask(a.t, a.h, "POST", "/v1/commands/history", a.Token, fmt.Sprintf(`{"room":%q}`, room)), 200)
	for _, e := range got.Entries {
		entry := said{seq: e.Seq}
		if err := json.Unmarshal(e.Body, &entry); err != nil {
			a.t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	return entries
}
