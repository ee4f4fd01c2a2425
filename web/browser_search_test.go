package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// roomsToSearch puts Ann into two rooms of Bob, with a message that is a long way up, a Chinese one and a packet.
func roomsToSearch(t *testing.T, bob *httpGuest, ann *webtest.Visitor) (tea, cake string) {
	t.Helper()
	tea, cake = twoRooms(t, bob, ann)
	bob.does("send", `"room":%q,"text":"The kettle sings in the old kitchen, and it has been doing so for a very long time, says the Lantern keeper"`, tea)
	bob.does("send", `"room":%q,"text":"今年年夜饭谁带甜品？"`, tea)
	for n := range 60 {
		bob.does("send", `"room":%q,"text":"line %d of biscuit"`, tea, n)
	}
	bob.does("send", `"room":%q,"text":"a lantern for the cake"`, cake)
	bob.packet(cake, 100, 1, `,"greeting":"lantern festival"`)
	return tea, cake
}

// marked evaluates to the marked words of all hits.
const marked = `[...document.querySelectorAll('.search mark')].map((e) => e.textContent).join()`

// mustMark waits until the hits have these words marked.
func mustMark(t *testing.T, v *webtest.Visitor, want string) {
	t.Helper()
	awaitAsk(t, v, fmt.Sprintf(`%s === %q`, marked, want))
}

// mustLight waits until the message with a text is lit and visible.
func mustLight(t *testing.T, v *webtest.Visitor, text string) {
	t.Helper()
	awaitAsk(t, v, fmt.Sprintf(`[...document.querySelectorAll('.line.lit')].some((e) => {
		const { top, bottom } = e.getBoundingClientRect();
		return e.innerText.includes(%q) && top >= 0 && bottom <= innerHeight;
	})`, text))
}

// TestBrowserSearch searches all rooms and one room. Hits must be marked, lead to their messages, and be there when the search is opened again.
func TestBrowserSearch(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, _ := roomsToSearch(t, bob, ann)
	lasting := `(() => { const later = setTimeout; window.setTimeout = (f, ms, ...more) => later(f, ms === 1800 ? 1e9 : ms, ...more); })()`
	ann.InjectScript(lasting) // a line stays lit, so that a slow machine sees it
	ann.Reload()

	ann.Press("button", "Search messages")
	ann.Sees("Type whole words.")
	awaitAsk(t, ann, `document.activeElement.matches('.search-field input')`)
	ann.Key("lantern")
	mustMark(t, ann, "lantern,lantern,Lantern")
	ann.Sees("[Red packet] lantern festival", "…", "says the Lantern keeper")
	for range 3 {
		ann.Key(kb.ArrowDown)
	}
	awaitAsk(t, ann, `document.activeElement.innerText.includes('keeper')`)
	ann.Key("\r")
	ann.Has("heading", "Tea")
	mustLight(t, ann, "Lantern keeper")
	mustMark(t, ann, "lantern,lantern,Lantern") // the panel stays open, and the focus in it
	awaitAsk(t, ann, `document.activeElement.matches('.search .panel-row[aria-current]')`)
	ann.Key("\x1b")
	ann.Lacks("textbox", "Words to find")
	ann.Has("heading", "Tea")

	ann.Press("textbox", "Message")
	ann.Key("f", chromedp.ModifierCtrl)
	awaitAsk(t, ann, `document.activeElement.matches('.search-field input')`)
	ann.Sees("Search in Tea")
	ann.Key("biscuit")
	ann.Sees("line 59 of biscuit")
	ann.Misses("a lantern for")
	awaitAsk(t, ann, `document.querySelectorAll('.search mark').length >= 50`)
	webtest.Ask[int](ann.Tab, `document.querySelector('.panel .sheet-body').scrollTop = 1e6, 0`)
	ann.Sees("line 0 of biscuit") // the next page has come
	ann.Fill("Words to find", "饭谁 甜品")
	mustMark(t, ann, "饭谁,甜品")
	ann.Fill("Words to find", "nowhere")
	ann.Sees("Nothing found for “nowhere”.")
	ann.Fill("Words to find", "kettle")
	mustMark(t, ann, "kettle")
	ann.Key("\x1b")
	ann.Lacks("textbox", "Words to find")
	awaitAsk(t, ann, `document.activeElement.matches('.composer textarea')`)

	ann.Press("button", "Search in Tea")
	mustMark(t, ann, "kettle")
	first := bob.does("send", `"room":%q,"text":"a second kettle"`, tea).Seq
	ann.Fill("Words to find", "second kettle")
	mustMark(t, ann, "second,kettle")
	bob.does("recall", `"room":%q,"seq":%d`, tea, first)
	mustMark(t, ann, "")
}

// TestBrowserSearchOnAPhone chooses a hit on a phone. The way back must lead to the hits, at the same place.
func TestBrowserSearchOnAPhone(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	roomsToSearch(t, bob, ann)
	ann.Press("searchbox", "Search your rooms")
	ann.Key("biscuit")
	ann.Press("button", "Search messages for “biscuit”")
	ann.Sees("line 59 of biscuit")
	webtest.Ask[int](ann.Tab, `document.querySelector('.sheet-body').scrollTop = 1200, 0`)
	ann.Press("button", "line 40 of biscuit")
	ann.Has("heading", "Tea")
	ann.Lacks("dialog", "Search messages")
	ann.Press("button", "Back")
	ann.Has("dialog", "Search messages")
	awaitAsk(t, ann, `document.activeElement.innerText.includes('line 40')`)
	if at := webtest.Ask[int](ann.Tab, `document.querySelector('.sheet-body').scrollTop`); at < 1000 {
		t.Errorf("the hits are at %d", at)
	}
}

// TestBrowserWithoutSearch opens the page of a server that cannot search. It must not offer a search, and leave Ctrl+F to the browser.
func TestBrowserWithoutSearch(t *testing.T) {
	enginetest.Nightly(t, "page")
	engines := newTestEngines(t)
	engines.noSearch = true
	s := engines.open(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	twoRooms(t, bob, ann)
	ann.Press("link", "Tea")
	ann.Has("heading", "Tea")
	ann.Lacks("button", "Search messages")
	ann.Lacks("button", "Search in Tea")
	webtest.Ask[int](ann.Tab, `addEventListener('keydown', (e) => { window.prevented = e.defaultPrevented; }), 0`)
	ann.Key("f", chromedp.ModifierCtrl)
	if webtest.Ask[bool](ann.Tab, `window.prevented !== false`) {
		t.Error("the page takes Ctrl+F from the browser")
	}
}
