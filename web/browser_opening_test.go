package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// packet sends a packet and returns it. fields are further fields of the request, as JSON.
func (a *httpGuest) packet(room string, total, count int, fields string) wire.Packet {
	a.t.Helper()
	a.keys++
	body := fmt.Sprintf(`{"key":"afar-%d","room":%q,"total":%d,"count":%d%s}`, a.keys, room, total, count, fields)
	return mustAnswer[wire.SendPacketReply](a.t, ask(a.t, a.h, "POST", "/v1/commands/send_packet", a.Token, body), 200).Packet
}

// grab opens a packet.
func (a *httpGuest) grab(packet string) wire.GrabReply {
	a.t.Helper()
	return mustAnswer[wire.GrabReply](a.t, ask(a.t, a.h, "POST", "/v1/commands/grab", a.Token, fmt.Sprintf(`{"packet":%q}`, packet)), 200)
}

// userID returns the id of the guest that is signed in on a page.
func userID(v *webtest.Visitor) string {
	return webtest.Ask[string](v.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1])).sub`)
}

// recordOpening makes the page record, frame by frame until the digits of the amount rest, what it shows of the answer, and whether they have rolled.
const recordOpening = `window.told = [], window.rolled = false, (function look() {
	if (document.querySelector('.opening')?.dataset.amountShown === 'no') {
		rolled ||= document.querySelector('.reel') !== null;
		const labels = [...document.querySelectorAll('[aria-label]')].filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e) => e.ariaLabel);
		const found = (text) => text.match(/.*(1\.23|luckiest|in your wallet|Provably|Send one back).*/gi) ?? [];
		const onCard = found(document.querySelector('.opening-card')?.innerText ?? ''), all = found([document.title, document.body.innerText, ...labels].join('\n'));
		for (const line of onCard) all.splice(all.indexOf(line), 1);
		told.push(...all, ...onCard.map((line) => 'on the card ' + line));
	}
	requestAnimationFrame(look);
})(), 0`

// holdRolling makes the page stop all animations as soon as the digits are there.
const holdRolling = `window.held = new Promise((done) => {
	const watch = new MutationObserver(() => {
		if (!document.querySelector('.reel')) return;
		watch.disconnect();
		const all = document.getAnimations();
		all.forEach((a) => a.pause());
		done(all.length);
	});
	watch.observe(document.body, { subtree: true, childList: true });
}), 0`

// TestBrowserOpeningInCalm opens an envelope with reduced motion. No element may have a transition, except those of opacity: text that changes its colour on the red
// envelope was black for some frames.
func TestBrowserOpeningInCalm(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true, Calm: true})
	room := bob.does("create_room", `"name":"Tea","members":[%q]`, userID(ann)).Room.ID
	bob.packet(room, 123, 1, `,"greeting":"for tea"`)
	ann.Press("link", "Tea")
	ann.Press("button", "for tea")
	ann.Has("button", "Open")
	moving := webtest.Ask[[]string](ann.Tab, `[...document.querySelectorAll('*')].map((e) => [e, getComputedStyle(e)])
		.filter(([, s]) => s.transitionDuration !== '0s' && s.transitionProperty !== 'opacity').map(([e]) => String(e.className))`)
	if len(moving) > 0 {
		t.Errorf("with reduced motion %d elements have such a transition, the first %q", len(moving), moving[0])
	}
	webtest.Ask[int](ann.Tab, recordOpening)
	ann.Press("button", "Open")
	ann.Sees("¥1.23", "in your wallet", "Provably fair")
	told := webtest.Ask[[]string](ann.Tab, `told`)
	if told = slices.DeleteFunc(told, func(line string) bool { return line == "on the card ¥1.23" }); len(told) > 0 { // it needs not roll
		t.Errorf("before the card tells the amount, the page shows %q", told)
	}
}

// TestBrowserUsualGreetingFits shows the greeting that the page suggests on envelopes, before and after they are opened. All of it must be seen, and no word may
// stand on the drawing.
func TestBrowserUsualGreetingFits(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	room := bob.does("create_room", `"name":"Tea","members":[%q]`, userID(ann)).Room.ID
	plain := bob.packet(room, 123, 1, `,"greeting":"Good luck and good fortune!"`).ID
	koi := bob.packet(room, 123, 1, `,"greeting":"Good luck and good fortune!","skin":"koi"`).ID
	ann.Press("link", "Tea")
	fits := func(state string) {
		t.Helper()
		awaitAsk(t, ann, fmt.Sprintf(`[...document.querySelectorAll('.envelope')].filter((e) => e.innerText.includes(%q)).length === 2`, state))
		for _, wrong := range webtest.Ask[[]string](ann.Tab, `[...document.querySelectorAll('.envelope')].flatMap((envelope) => {
			const text = envelope.querySelector('.envelope-text'), greeting = text.querySelector('.envelope-greeting');
			const [size, position] = [getComputedStyle(envelope).backgroundSize, getComputedStyle(envelope).backgroundPosition];
			const drawing = envelope.matches('[class*=skin-]') ? parseFloat(size) + Number(/[\d.]+(?=px)/.exec(position)[0]) : 0;
			const free = envelope.getBoundingClientRect().right - text.getBoundingClientRect().right;
			const cut = [greeting.scrollHeight - greeting.clientHeight, text.scrollHeight - text.clientHeight, text.scrollWidth - text.clientWidth];
			return Math.max(...cut) > 1 || free < drawing ? [envelope.className + ' cuts ' + cut + ' pixels, and has ' + free + ' for a drawing of ' + drawing] : [];
		})`) {
			t.Errorf("%s: %s", state, wrong)
		}
	}
	fits("1 share")
	annsToken := storedGuest(ann)
	for _, packet := range []string{plain, koi} {
		mustAnswer[wire.GrabReply](t, ask(t, s.Handler(), "POST", "/v1/commands/grab", annsToken, fmt.Sprintf(`{"packet":%q}`, packet)), 200)
	}
	fits("You got ¥1.23")
}

// TestBrowserOpening opens an envelope. Until the digits rest, nothing on the page may tell the amount, and nothing to screen readers. The coin must not be
// flattened while it fades, because its front is mirrored then. The button below disappears with the envelope.
func TestBrowserOpening(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	browser := webtest.Browser(t)
	for name, screen := range map[string]webtest.Screen{"laptop": {}, "phone": {Phone: true}} {
		ann := visitAsGuest(t, browser, "http://"+s.listen(t), "Ann", screen)
		room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
		bob.packet(room, 123, 1, `,"greeting":"for tea"`)
		ann.Press("link", "Tea")
		ann.Press("button", "for tea")
		ann.Has("button", "Open")
		webtest.Ask[int](ann.Tab, recordOpening)
		webtest.Ask[int](ann.Tab, holdRolling)
		ann.Press("button", "Open")
		if n := webtest.Ask[int](ann.Tab, `held`); n < 4 {
			t.Errorf("%s: only %d animations run while the envelope opens", name, n)
		}
		if n := ann.Count("", "1.23"); n > 0 {
			t.Errorf("%s: before the digits rest, screen readers find the amount in %d places", name, n)
		}
		webtest.Ask[int](ann.Tab, `document.getAnimations().forEach((a) => a.play()), 0`)
		ann.Sees("in your wallet", "Provably fair", "Send one back")
		ann.WaitForAnimations()
		awaitAsk(t, ann, `rolled && document.querySelector('.opening-card .claim-amount')?.checkVisibility({ visibilityProperty: true, opacityProperty: true })`)
		if told := webtest.Ask[[]string](ann.Tab, `told`); len(told) > 0 {
			t.Errorf("%s: before the digits rest, the page shows %q", name, told)
		}
		if n := ann.Count("StaticText", "1.23"); n == 0 {
			t.Errorf("%s: screen readers do not find the amount", name)
		}
		ann.Lacks("button", "Look inside without opening")
		got := webtest.Ask[string](ann.Tab, `(() => {
			const coin = getComputedStyle(document.querySelector('.opening-coin'));
			const faces = [...document.querySelectorAll('.opening-coin > span')].map((e) => getComputedStyle(e).opacity);
			return [coin.transformStyle, coin.opacity, coin.filter, coin.webkitTapHighlightColor, ...faces].join('; ');
		})()`)
		if want := "preserve-3d; 1; none; rgba(0, 0, 0, 0); 0; 0"; got != want {
			t.Errorf("%s: after the opening the coin has %s, want %s", name, got, want)
		}
		ann.Press("button", "Close")
		ann.Has("button", "Wallet, ¥11.23")
		ann.Sees("You got ¥1.23")
	}
}

// TestBrowserShareCard saves the picture of an opened packet, and shares it where the device can. It must have the drawing of the skin and the amount.
func TestBrowserShareCard(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	bob.packet(room, 123, 1, `,"greeting":"for tea","skin":"lantern"`)
	ann.Press("link", "Tea")
	ann.Press("button", "for tea")
	ann.Press("button", "Open")
	ann.Sees("in your wallet")
	webtest.Ask[int](ann.Tab, `HTMLAnchorElement.prototype.click = function () { window.saved = this; }, 0`)
	ann.Press("button", "Save picture")
	awaitAsk(t, ann, `window.saved`)
	got := webtest.Ask[struct {
		Name          string
		Width, Height int
		Colours       []int // in the place of the amount, and in that of the drawing
	}](ann.Tab, `(async () => {
		const image = Object.assign(new Image(), { src: saved.href });
		await image.decode();
		const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
		const pen = canvas.getContext('2d', { willReadFrequently: true });
		pen.drawImage(image, 0, 0);
		const colours = (...box) => new Set(new Uint32Array(pen.getImageData(...box).data.buffer)).size;
		return { name: saved.download, width: image.width, height: image.height, colours: [colours(150, 300, 400, 90), colours(400, 780, 310, 170)] };
	})()`)
	if !strings.HasSuffix(got.Name, ".png") || got.Width != 720 || got.Height != 960 || got.Colours[0] < 20 || got.Colours[1] < 20 {
		t.Errorf("the picture is %+v", got)
	}
	webtest.Ask[int](ann.Tab, `navigator.canShare = () => true, navigator.share = async ({ files }) => { window.shared = files[0]; }, 0`)
	ann.Press("button", "Save picture")
	awaitAsk(t, ann, `window.shared?.type === 'image/png' && shared.size > 1000`)
}

// TestBrowserOpeningNeedsPassphrase taps the coin of a locked envelope without a passphrase: the page must say what is missing.
func TestBrowserOpeningNeedsPassphrase(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	bob.packet(room, 123, 1, `,"passphrase":"oolong"`)
	ann.Press("link", "Tea")
	ann.Press("button", "Red packet from Bob")
	ann.Press("button", "Open")
	ann.Sees("Please enter the passphrase first.")
	ann.Fill("Passphrase", "oolong")
	ann.Misses("Please enter the passphrase first.")
	ann.Press("button", "Open")
	ann.Sees("¥1.23", "in your wallet")
}

// TestBrowserPacketLink opens the link to a packet as a newcomer. The page must invite to the room, and show the packet after that.
func TestBrowserPacketLink(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	room := bob.does("create_room", `"name":"Tea","kind":"public"`).Room.ID
	packet := bob.packet(room, 123, 2, "").ID
	browser := webtest.Browser(t)
	for name, screen := range map[string]webtest.Screen{"Ann": {}, "Cyn": {Phone: true}} {
		v := browser.Visit(t, fmt.Sprintf("%s/#/room/%s/packet/%s", page, room, packet), screen)
		v.Fill("What may we call you?", name)
		v.Key("\r")
		v.Sees("Join this room?", "red packet")
		if text := v.Text(); strings.Contains(text, "doesn’t exist") {
			t.Errorf("%s reads %q", name, text)
		}
		v.Press("button", "Join")
		v.Press("button", "Open")
		v.Sees("in your wallet")
		v.Press("button", "Close")
		v.Has("heading", "Tea")
		v.Has("textbox", "Message")
	}
}

// TestBrowserEnvelopeLives looks at envelopes while others open them. The sender must read which user has opened the packet. All must
// see the avatars of the users that open it, and that it ends soon. A new envelope drops in, and one that waits shines, unless the user prefers reduced motion.
func TestBrowserEnvelopeLives(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	browser := webtest.Browser(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	cyn := visitAsGuest(t, browser, page, "Cyn", webtest.Screen{Phone: true, Calm: true})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q]`, userID(ann), userID(cyn)).Room.ID
	both := []*webtest.Visitor{ann, cyn}
	for _, v := range both {
		v.Press("link", "Tea")
		v.Has("textbox", "Message")
	}
	for _, v := range both {
		webtest.Ask[int](v.Tab, `(() => {
			const { animate } = Element.prototype;
			window.shone = 0;
			Element.prototype.animate = function (...how) {
				if (this.matches('.envelope.waits')) shone++;
				return animate.apply(this, how);
			};
			return 0;
		})()`)
	}
	webtest.Ask[int](ann.Tab, `window.dropped = 0, new MutationObserver(() => {
		dropped += document.querySelectorAll('.envelope.drops:not([data-status=sending])').length;
	}).observe(document.body, { subtree: true, childList: true }), 0`)
	webtest.Ask[int](ann.Tab, `performance.now = () => 0, 0`) // an envelope counts as new, however slow the machine is
	bob.packet(room, 100, 2, `,"greeting":"for tea"`)
	for _, v := range both {
		v.Has("button", "for tea")
	}
	if n := webtest.Ask[int](ann.Tab, `delete performance.now, dropped`); n == 0 {
		t.Error("a new envelope does not drop in")
	}
	awaitAsk(t, ann, `shone > 1`) // so a light has passed over the page of Cyn, too, if one does
	if n := webtest.Ask[int](cyn.Tab, `shone`); n != 0 {
		t.Errorf("with reduced motion an envelope shines %d times", n)
	}
	ann.Press("button", "for tea")
	ann.Press("button", "Open")
	ann.Sees("in your wallet")
	ann.Press("button", "Close")
	ann.Sees("1 of 2 opened")
	awaitAsk(t, ann, `!document.querySelector('.envelope.waits')`) // an envelope that the user has opened does not wait any more
	cyn.Sees("1 of 2 opened")
	mustShowOpeners(t, cyn, "A")

	ann.Press("button", "Send a red packet")
	ann.Fill("Total", "3")
	ann.Fill("How many shares", "3")
	ann.Fill("Greeting", "from Ann")
	ann.Press("button", "Send ¥")
	ann.Has("button", "Red packet from Ann")
	lastPacket := func() string {
		history := mustAnswer[wire.HistoryReply](t, ask(t, bob.h, "POST", "/v1/commands/history", bob.Token, fmt.Sprintf(`{"room":%q}`, room)), 200)
		var sent wire.Packet
		noError(t, json.Unmarshal(history.Entries[len(history.Entries)-1].Body, &sent))
		return sent.ID
	}
	bob.grab(lastPacket())
	ann.Sees("Bob opened yours · 1/3")
	cyn.Sees("1 of 3 opened")
	mustShowOpeners(t, ann, "B")
	dan := s.httpGuest(t, "Dan") // unknown to the pages
	dan.does("join", `"room":%q`, room)
	dan.grab(lastPacket())
	ann.Sees("Dan opened yours · 2/3")
	mustShowOpeners(t, ann, "BD")
	mustShowOpeners(t, cyn, "BD")

	ann.Press("button", "Send a red packet")
	ann.Fill("Total", "1")
	ann.Fill("How many shares", "1")
	ann.Press("button", "Send ¥")
	ann.Has("button", "Red packet from Ann: Good luck")
	bob.grab(lastPacket())
	ann.Sees("Bob opened your red packet")
	cyn.Sees("Ann’s red packet is all opened")

	bob.packet(room, 100, 2, `,"greeting":"quick","ttl_s":50`)
	for _, v := range both {
		v.Sees("sec left")
	}
}

// mustShowOpeners waits until an envelope shows the initials of the users that have opened it.
func mustShowOpeners(t *testing.T, v *webtest.Visitor, initials string) {
	t.Helper()
	awaitAsk(t, v, fmt.Sprintf(`[...document.querySelectorAll('.envelope-openers')].some((e) => e.innerText.replace(/\s/g, '') === %q)`, initials))
}

// recordSheets makes the page record the backgrounds of its dialog, frame by frame, each once.
const recordSheets = `window.sheets = [], (function look() {
	const dialog = document.querySelector('dialog.sheet');
	if (dialog) {
		const { backgroundColor, backgroundImage, height } = getComputedStyle(dialog);
		const now = [backgroundColor, backgroundImage, height].join(' ');
		if (!sheets.includes(now)) sheets.push(now);
	}
	requestAnimationFrame(look);
})()`

// TestBrowserOpeningIsRedFromItsFirstFrame opens the sheet of an envelope while the files of the opening are still on their way: for a newcomer in the
// lobby, and by the address of a packet that the page does not know yet. The sheet may not change its colour or height when they arrive.
func TestBrowserOpeningIsRedFromItsFirstFrame(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newLobbyServer(t)
	held := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/opening.js") || strings.HasSuffix(r.URL.Path, "/opening.css") {
			<-held
		}
		s.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release) // before the server is closed
	bob := s.httpGuest(t, "Bob")
	browser := webtest.Browser(t)
	ann := browser.Visit(t, "about:blank", webtest.Screen{Phone: true})
	ann.InjectScript(recordSheets)
	ann.Do(chromedp.Navigate(server.URL))
	comeIn(ann, "Ann")
	awaitAsk(t, ann, `document.querySelector('dialog.sheet .spinner')`)
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	packet := bob.packet(room, 123, 1, "").ID
	again := ann.Again(t, "about:blank", webtest.Screen{Phone: true})
	again.InjectScript(recordSheets)
	again.Do(chromedp.Navigate(fmt.Sprintf("%s/#/room/%s/packet/%s", server.URL, room, packet)))
	awaitAsk(t, again, `document.querySelector('dialog.sheet .spinner')`)
	release()
	for name, v := range map[string]*webtest.Visitor{"welcome": ann, "address": again} {
		v.Has("button", "Open")
		v.WaitForAnimations()
		if got := webtest.Ask[[]string](v.Tab, `sheets`); len(got) != 1 || !strings.Contains(got[0], "rgb(58, 11, 12)") {
			t.Errorf("%s: the sheet has one after the other %q", name, got)
		}
	}
}
