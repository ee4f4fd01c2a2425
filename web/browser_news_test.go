package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// twoRooms puts Ann into two rooms of Bob.
func twoRooms(t *testing.T, bob *httpGuest, ann *webtest.Visitor) (tea, cake string) {
	t.Helper()
	tea = bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	cake = bob.does("create_room", `"name":"Cake","kind":"public","members":[%q]`, userID(ann)).Room.ID
	ann.Has("link", "Tea")
	ann.Has("link", "Cake")
	return tea, cake
}

// lastingBanners makes banners stay, so that a slow machine sees them.
const lastingBanners = `(() => {
	const later = window.setTimeout;
	window.setTimeout = (act, ms, ...more) => later(act, ms === 8000 ? 1e9 : ms, ...more);
})()`

// TestBrowserNews sends a mention, a packet and a plain message into a room that is not open. The first two must be told by a banner, and
// all must be counted on the tab and on the way back. A silent room makes no news.
func TestBrowserNews(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	ann.InjectScript(lastingBanners)
	ann.Reload()
	tea, cake := twoRooms(t, bob, ann)
	icon := func() string {
		return webtest.Ask[string](ann.Tab, `decodeURIComponent(document.querySelector('link[rel=icon]').href)`)
	}
	plain := icon()
	ann.Press("link", "Tea")
	ann.Has("heading", "Tea")
	bob.does("send", `"room":%q,"text":"for nobody"`, cake)
	ann.Has("button", "Back, 1 new message elsewhere")
	bob.does("send", `"room":%q,"text":"where is @Ann","mentions":[%q]`, cake, userID(ann))
	ann.Sees("Bob in Cake", "where is @Ann")
	ann.Lacks("button", "for nobody")
	ann.Has("button", "Back, 2 new messages elsewhere")
	if got := title(ann); got != "(2) hongbao" {
		t.Errorf("the title is %q", got)
	}
	if got := icon(); !strings.HasPrefix(got, "data:image/svg+xml,") || !strings.Contains(got, ">2</text>") {
		t.Errorf("the icon is %s", got)
	}
	ann.Press("button", "Bob in Cake where is @Ann")
	ann.Has("heading", "Cake")
	ann.Lacks("button", "Bob in Cake")
	s.eventually(t, "the icon is plain again", func() bool { return icon() == plain && title(ann) == "hongbao" })

	bob.packet(tea, 100, 2, `,"greeting":"quick"`)
	ann.Sees("Bob in Tea", "Red packet: quick")
	ann.Press("button", "Close this note")
	ann.Lacks("button", "Bob in Tea")
	taken := bob.does("send", `"room":%q,"text":"never mind, @Ann","mentions":[%q]`, tea, userID(ann)).Seq
	ann.Has("button", "Bob in Tea never mind, @Ann")
	bob.does("recall", `"room":%q,"seq":%d`, tea, taken)
	ann.Lacks("button", "Bob in Tea")
	bob.does("send", `"room":%q,"text":"open here, @Ann","mentions":[%q]`, cake, userID(ann))
	ann.Sees("open here, @Ann")
	ann.Lacks("button", "Bob in Cake")

	ann.Back()
	ann.Has("heading", "Tea")
	ann.Press("button", "Tea")
	ann.Press("switch", "Mute alerts")
	s.eventually(t, "the switch is on", func() bool {
		return webtest.Ask[bool](ann.Tab, `[...document.querySelectorAll('[role=switch]')].some((e) => e.checked && e.closest('label').innerText.startsWith('Mute'))`)
	})
	ann.Press("button", "1 hour")
	ann.Sees("Until ")
	ann.Press("button", "For good")
	ann.Misses("Until 1")
	ann.Press("button", "Close")
	ann.Press("button", "Back")
	ann.Has("link", "Mute alerts") // the server has answered, too
	bob.packet(tea, 100, 2, `,"greeting":"unheard"`)
	bob.does("send", `"room":%q,"text":"heard @Ann","mentions":[%q]`, cake, userID(ann))
	ann.Has("button", "Bob in Cake heard @Ann")
	ann.Lacks("button", "Bob in Tea")
	if got := title(ann); got != "(1) hongbao" {
		t.Errorf("with a silent room the title is %q", got)
	}
}

// standIns replaces the browser's notifications and sounds, and lets a test hide the page.
const standIns = `window.notes = [];
	window.tones = 0;
	window.AudioContext = class {
		currentTime = 0;
		async resume() {}
		createOscillator() { return { frequency: {}, connect: (to) => to, start() { window.tones++; }, stop() {} }; }
		createGain() { return { gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect: (to) => to }; }
	};
	window.Notification = class {
		static permission = 'default';
		static async requestPermission() { window.asked = true; return Notification.permission = window.answer ?? 'granted'; }
		constructor(title, { body }) { this.text = title + ': ' + body; window.notes.push(this); }
		close() {}
	};
	Object.defineProperty(document, 'visibilityState', { get: () => (window.away ? 'hidden' : 'visible') });`

// TestBrowserNotifications lets a user switch on notifications and sounds. The browser must be asked only then, and show notifications only
// while the page is hidden.
func TestBrowserNotifications(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	ann.InjectScript(standIns)
	ann.Reload()
	twoRooms(t, bob, ann)
	direct := bob.does("direct", `"user":%q`, userID(ann)).Room.ID
	notes := func() string { return webtest.Ask[string](ann.Tab, `notes.map((n) => n.text).join(' | ')`) }
	bob.does("send", `"room":%q,"text":"zero"`, direct)
	ann.Sees("zero")
	ann.Press("button", "Settings")
	if webtest.Ask[bool](ann.Tab, `!!window.asked`) {
		t.Error("the browser was asked before the user wanted notifications")
	}
	webtest.Ask[int](ann.Tab, `window.answer = 'denied', 0`)
	ann.Press("switch", "Notifications")
	ann.Sees("This browser forbids them")
	webtest.Ask[int](ann.Tab, `window.answer = 'granted', 0`)
	ann.Press("switch", "Notifications")
	ann.Misses("This browser forbids them")
	if webtest.Ask[int](ann.Tab, `tones`) != 0 {
		t.Error("there was a sound before the user wanted sounds")
	}
	ann.Press("switch", "Sound")
	ann.Press("button", "Close")
	bob.does("send", `"room":%q,"text":"while it is looked at"`, direct)
	ann.Sees("while it is looked at")
	awaitAsk(t, ann, `tones > 0`)
	if got := notes(); got != "" {
		t.Errorf("while the page is visible: the notifications %q, want none", got)
	}
	webtest.Ask[int](ann.Tab, `window.away = true, 0`)
	bob.does("send", `"room":%q,"text":"two"`, direct)
	s.eventually(t, "a notification", func() bool { return notes() == "Bob: two" })
	webtest.Ask[int](ann.Tab, `window.away = false, notes[0].onclick(), 0`)
	ann.Has("heading", "Bob")
}

// TestBrowserRoomPrefs pins and archives rooms. Another device must show it at once, and something new must bring an archived room back.
func TestBrowserRoomPrefs(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	tea, cake := twoRooms(t, bob, ann)
	bob.does("send", `"room":%q,"text":"tea"`, tea)
	bob.does("send", `"room":%q,"text":"cake"`, cake)
	ann.Sees("tea", "cake")
	other := ann.Again(t, page, webtest.Screen{Phone: true})
	other.Sees("tea", "cake")
	mustListRooms(t, other, "Cake", "Tea")
	ann.Press("link", "Tea")
	ann.Press("button", "Tea")
	ann.Press("switch", "Pin to the top")
	first := func(want string) func() bool {
		return func() bool {
			return webtest.Ask[string](other.Tab, `document.querySelector('.room-row strong').innerText`) == want
		}
	}
	s.eventually(t, "the pinned room is first on the other device", first("Tea"))
	ann.Press("switch", "Archive")
	ann.Has("button", "1 archived room")
	s.eventually(t, "the archived room is gone from the other device", first("Cake"))
	other.Press("button", "1 archived room")
	other.Has("link", "Tea")
	other.Press("button", "Hide archived rooms")
	other.Reload()
	other.Has("button", "1 archived room")
	mustListRooms(t, other, "Cake")
	bob.does("send", `"room":%q,"text":"more tea"`, tea)
	s.eventually(t, "the room with a new message is back", first("Tea"))
	other.Lacks("button", "archived room")

	awaitAsk(t, ann, `[...document.querySelectorAll('[role=switch]')].some((e) => !e.checked && e.closest('label').innerText.startsWith('Archive'))`)
	ann.Press("switch", "Mute alerts")
	ann.Press("switch", "Archive")
	s.eventually(t, "the room is archived again", first("Cake"))
	bob.does("send", `"room":%q,"text":"even more"`, tea)
	bob.does("send", `"room":%q,"text":"crumbs"`, cake)
	other.Sees("crumbs")
	mustListRooms(t, other, "Cake")
}

// TestBrowserMentions is mentioned in a room that is not open, and before the page was opened. The list must have both messages, and lead to them.
func TestBrowserMentions(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, cake := twoRooms(t, bob, ann)
	ann.Press("button", "Mentions")
	ann.Sees("Nobody has mentioned you lately")
	bob.does("send", `"room":%q,"text":"@Ann of old","mentions":[%q]`, tea, userID(ann))
	ann.Has("button", "Mentions, 1 new")
	for range 30 {
		bob.does("send", `"room":%q,"text":"another line"`, tea)
	}
	ann.InjectScript(strings.ReplaceAll(lastingBanners, "8000", "1800")) // a line stays lit, so that a slow machine sees it
	ann.Reload()
	ann.Sees("@Ann of old")
	bob.does("send", `"room":%q,"text":"@Ann of today","mentions":[%q]`, cake, userID(ann))
	ann.Has("button", "Mentions, 2 new")
	ann.Press("button", "Bob in Tea")
	ann.Has("heading", "Tea")
	awaitAsk(t, ann, `[...document.querySelectorAll('.line.lit')].some((e) => e.innerText.includes('@Ann of old'))`)
}

// TestBrowserLoading opens a room whose messages do not come. The page must show their shapes and, once the connection works again, the messages.
func TestBrowserLoading(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	bob.does("send", `"room":%q,"text":"hello"`, tea)
	ann.Sees("hello")
	webtest.Ask[int](ann.Tab, `window.send = WebSocket.prototype.send, WebSocket.prototype.send = function (data) {
		window.socket = this;
		if (!String(data).includes('"history"')) window.send.call(this, data);
	}, 0`)
	ann.Press("link", "Tea")
	ann.Has("status", "Loading")
	if n := webtest.Ask[int](ann.Tab, `document.querySelectorAll('.timeline .ghosts i').length`); n == 0 {
		t.Error("no shapes of messages are shown")
	}
	webtest.Ask[int](ann.Tab, `WebSocket.prototype.send = window.send, window.socket.close(), 0`)
	awaitAsk(t, ann, `document.querySelector('.bubble')?.innerText.includes('hello')`)
	ann.Lacks("status", "Loading")
}

// TestBrowserUnreadLine opens a room with unread messages. The line above them must stay while the room is open.
func TestBrowserUnreadLine(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	ann.Press("link", "Cake")
	bob.does("send", `"room":%q,"text":"while away"`, tea)
	ann.Has("link", "1 new message")
	ann.Press("link", "Tea")
	const line = `(document.querySelector('.new-line')?.parentElement.innerText.replaceAll('\n', ' ') ?? '')`
	awaitAsk(t, ann, line+`.includes('while away')`)
	ann.Fill("Message", "an answer")
	ann.Key("\r")
	ann.Sees("an answer")
	ann.Lacks("image", "Being sent")
	bob.does("send", `"room":%q,"text":"the end"`, tea)
	ann.Sees("the end")
	if got := webtest.Ask[string](ann.Tab, line); !strings.Contains(got, "while away") {
		t.Errorf("the line of new messages is above %q", got)
	}
	ann.Press("link", "Cake")
	ann.Has("heading", "Cake")
	ann.Press("link", "Tea")
	ann.Sees("while away")
	if got := webtest.Ask[string](ann.Tab, line); got != "" {
		t.Errorf("in a room without unread messages the line is above %q", got)
	}
	for n := range 2 { // each time the line tells what is new since then
		webtest.Ask[int](ann.Tab, `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' }), 0`)
		for range n + 2 {
			bob.does("send", `"room":%q,"text":"behind another window"`, tea)
		}
		ann.Has("link", fmt.Sprintf("%d new messages", n+2))
		webtest.Ask[bool](ann.Tab, `delete document.visibilityState, document.dispatchEvent(new Event('visibilitychange'))`)
		awaitAsk(t, ann, line+fmt.Sprintf(`.startsWith('%d new since')`, n+2))
	}
}

// TestBrowserDesktopMessages uses messages with a mouse and with keys: no dialog may cover the page, and the timeline is one stop of the
// tab key.
func TestBrowserDesktopMessages(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	bob.does("update_room", `"room":%q,"announcement":"Cups are in the kitchen"`, tea)
	bob.does("send", `"room":%q,"text":%q`, tea, strings.Repeat("a long story ", 100)+"and its end")
	bob.does("send", `"room":%q,"text":"https://example.com/ first"`, tea)
	bob.does("send", `"room":%q,"text":"second"`, tea)
	ann.Press("link", "Tea")
	ann.Sees("Cups are in the kitchen", "second", "a long story")
	ann.Misses("and its end")
	ann.Press("button", "Show all")
	ann.Sees("and its end")
	ann.Press("button", "Close the announcement")
	ann.Lacks("button", "Close the announcement")
	ann.Reload()
	ann.Sees("second")
	ann.Lacks("button", "Close the announcement")
	bob.does("update_room", `"room":%q,"announcement":"Cups are gone"`, tea)
	ann.Has("button", "Close the announcement")

	middle := func(selector, text string) (x, y float64) {
		t.Helper()
		at := webtest.Ask[[]float64](ann.Tab, fmt.Sprintf(`(() => {
			const line = [...document.querySelectorAll('.line')].find((e) => e.innerText.includes(%q));
			const { left, top, width, height } = line.querySelector(%q).getBoundingClientRect();
			return [left + width / 2, top + height / 2];
		})()`, text, selector))
		return at[0], at[1]
	}
	hover := func(text string) {
		t.Helper()
		x, y := middle(".bubble", text)
		ann.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	}
	hover("second")
	ann.Press("button", "React with 👍")
	ann.Has("button", "👍 1")
	hover("second")
	ann.Press("button", "Reply")
	ann.Sees("Reply to Bob")
	awaitAsk(t, ann, `document.activeElement.matches('textarea')`)
	hover("first")
	ann.Has("button", "React with 👍")
	x, y := middle(".more-button", "first")
	ann.Do(chromedp.MouseClickXY(x, y))
	ann.Has("button", "Copy text")
	if n := webtest.Ask[int](ann.Tab, `document.querySelectorAll('dialog:not(.beside)').length`); n != 0 {
		t.Errorf("%d dialogs cover the page", n)
	}
	ann.Press("button", "Close")
	awaitAsk(t, ann, `!document.querySelector('dialog')`)

	webtest.Ask[int](ann.Tab, `document.querySelector('.timeline-box').focus(), 0`)
	onRow := func(text string) {
		t.Helper()
		awaitAsk(t, ann, `document.activeElement.matches('.line') && document.activeElement.innerText.includes('`+text+`')`)
	}
	ann.Key(kb.ArrowUp)
	onRow("first") // the focus was there before
	ann.Key(kb.ArrowDown)
	onRow("second")
	ann.Key(kb.ArrowDown)
	onRow("Cups are gone")
	ann.Key(kb.ArrowUp)
	ann.Key(kb.ArrowUp)
	onRow("first")
	ann.Key("\t")
	awaitAsk(t, ann, `document.activeElement.matches('a') && document.activeElement.innerText === 'https://example.com/'`)
	const others = `[...document.querySelectorAll('.line :is(a, button)')].filter((e) => e.tabIndex >= 0 && !e.closest('.line').contains(document.activeElement)).length`
	if n := webtest.Ask[int](ann.Tab, others); n != 0 {
		t.Errorf("the tab key stops %d times in other rows", n)
	}
	ann.Key(kb.ArrowDown)
	onRow("second")
	ann.Key("\r")
	ann.Has("button", "Copy text")
}
