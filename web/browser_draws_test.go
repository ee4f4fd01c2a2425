package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// recordSpoilers makes the page record what it shows of an amount outside of the envelope before the envelope opens. The balance before is known.
const recordSpoilers = `window.spoiled = [], new MutationObserver(() => {
	const opening = document.querySelector('.opening');
	if (!opening || opening.dataset.open === 'yes') return;
	const shown = document.querySelector('.room .bar .number').innerText + document.querySelector('.lines').innerText;
	if (!shown.includes('¥10.00') || /You won|抽中|won|没抽中|Not this time/.test(shown)) spoiled.push(shown);
}).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true }), 0`

// recordFiles makes the page record the files that it gives to the user, by name.
const recordFiles = `(() => {
	window.saved = {};
	let last;
	const make = URL.createObjectURL;
	URL.createObjectURL = (blob) => { last = blob; return make(blob); };
	HTMLAnchorElement.prototype.click = function () { last.text().then((text) => { saved[this.download] = JSON.parse(text); }); };
})()`

// mustBeAccessible runs axe-core on what a page shows. It must find nothing.
func mustBeAccessible(t *testing.T, v *webtest.Visitor, where string) {
	t.Helper()
	v.WaitForAnimations()
	axe, err := os.ReadFile("../cmd/hongbao/e2e/browser/testdata/axe/axe.min.js")
	noError(t, err)
	webtest.Ask[bool](v.Tab, string(axe)+"; true")
	for _, found := range webtest.Ask[[]string](v.Tab, `axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(({violations}) =>
		violations.map((f) => f.id + ': ' + f.nodes.map((n) => n.html).join(' ')))`) {
		t.Errorf("%s: axe finds %s", where, found)
	}
}

// enterInChinese signs a new guest in on a page that speaks Chinese.
func enterInChinese(t *testing.T, b *webtest.Chromium, page, name string, s webtest.Screen) *webtest.Visitor {
	t.Helper()
	s.Language = "zh-CN"
	v := b.Visit(t, page, s)
	v.Fill("怎么称呼你", name)
	v.Key("\r")
	v.Has("button", name)
	return v
}

// TestBrowserDraw sends a draw with the keyboard, and lets two users enter it: by touch in Chinese, and by keyboard in English with reduced motion. All see the
// participants, the chances and the time left, also after a reload. Nothing tells the result before the envelopes open. The loser gets a receipt. The
// draw is checked in the page.
func TestBrowserDraw(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	browser := webtest.Browser(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	mei := enterInChinese(t, browser, page, "Mei", webtest.Screen{Phone: true, Dark: true})
	bob := visitAsGuest(t, browser, page, "Bob", webtest.Screen{Calm: true})
	cyn := s.httpGuest(t, "Cyn")
	cyn.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q,%q]`, userID(ann), userID(mei), userID(bob))
	for _, v := range []*webtest.Visitor{ann, mei, bob} {
		v.Press("link", "Tea")
	}
	for _, v := range []*webtest.Visitor{mei, bob} {
		v.InjectScript(recordFiles)
		v.Reload()
		v.Has("textbox", "")
		webtest.Ask[int](v.Tab, recordSpoilers)
	}

	ann.Press("button", "Send a red packet")
	ann.Has("radio", "First come")
	webtest.Ask[bool](ann.Tab, `document.querySelector('[name=compose-way]').focus(), true`)
	ann.Key(kb.ArrowRight)
	ann.Has("radio", "10 sec")
	mustBeAccessible(t, ann, "the form of a draw")
	ann.Screenshot("compose")
	webtest.Ask[bool](ann.Tab, `document.querySelector('[name=compose-window]:checked').focus(), true`)
	ann.Key(kb.ArrowLeft) // 10 s
	ann.Press("radio", "They share it all")
	ann.Fill("Total", "3")
	ann.Fill("How many shares", "1")
	ann.Sees("If all 4 here enter, 1 wins.")
	ann.Fill("Greeting", "for tea")
	ann.Press("button", "Send ¥3.00")

	mei.Press("button", "for tea")
	mei.Has("button", "参与")
	mei.Sees("如果参与", "目前归你")
	mei.Press("button", "参与")
	mei.Sees("已参与", "1 人参与")
	awaitAsk(t, mei, `Number(document.querySelector('.opening .draw-left').style.strokeDashoffset) < 0`)

	webtest.Ask[bool](bob.Tab, `document.querySelector('.envelope').focus(), true`)
	bob.Key("\r")
	bob.Has("button", "Enter")
	bob.Sees("1 of 2 wins", "¥1.50 each on average")
	bob.Key("\r")
	bob.Sees("You’re in", "1 of 2 wins")
	if moved := webtest.Ask[string](bob.Tab, `document.querySelector('.opening .draw-left').style.strokeDashoffset`); moved != "0" {
		t.Errorf("with reduced motion the ring closes: %s", moved)
	}
	mei.Sees("2 人中 1 人中奖")
	ann.Sees("2 in")
	mustShowOpeners(t, ann, "MB")
	mei.Reload()
	mei.Has("button", "已参与")
	mei.Sees("2 人中 1 人中奖", "2 人参与")
	webtest.Ask[int](mei.Tab, recordSpoilers)

	for _, v := range []*webtest.Visitor{mei, bob} {
		awaitAsk(t, v, `document.querySelector('.opening')?.dataset.open === 'yes'`)
		if spoiled := webtest.Ask[[]string](v.Tab, `spoiled`); len(spoiled) > 0 {
			t.Errorf("before the envelope opens, the page shows %q", spoiled[0])
		}
	}
	ann.Sees("1 of 2 won")
	winner, loser, lost, about, check, good, save := mei, bob, "Not this time", "Provably fair", "Check the draw", "Checked in this browser: the draw is right", "Save my receipt"
	if strings.Contains(mei.Text(), "没抽中") {
		winner, loser, lost, about, check, good, save = bob, mei, "这次没抽中", "公平可验证", "验证抽奖", "已在本浏览器验证：抽奖结果无误", "保存我的回执"
	}
	winner.Sees("¥3.00")
	loser.Sees(lost)
	awaitAsk(t, winner, `document.querySelector('.room .bar .number').innerText.includes('13.00')`)
	mustBeAccessible(t, winner, "the card of the winner")
	mustBeAccessible(t, loser, "the card of the loser")
	winner.Screenshot("winner")
	loser.Screenshot("loser")
	loser.Press("button", save)
	awaitAsk(t, loser, fmt.Sprintf(`Object.values(saved)[0]?.user === %q`, userID(loser)))
	loser.Press("button", about)
	loser.Press("button", check)
	loser.Sees(good)
	if found := webtest.Ask[[]int](loser.Tab, `['.good', '.problem'].map((is) => document.querySelectorAll('.verdict ' + is).length)`); found[0] < 5 || found[1] != 0 {
		t.Errorf("of the draw %d parts are right and %d wrong", found[0], found[1])
	}
	mustBeAccessible(t, loser, "the checked draw")
	loser.Screenshot("checked")
	webtest.Ask[bool](loser.Tab, `document.querySelector('.draw-files button').click(), true`)
	awaitAsk(t, loser, `Object.values(saved).some((file) => file.seed && file.waves[0].leaves.length === 2)`)
	if text := ann.Text(); strings.Contains(text, "You won") {
		t.Errorf("the sender, who has not entered, reads %q", text)
	}
}

// TestBrowserDrawOfNobody sends a draw that no user enters. The page must say so, and that the total was refunded. A user that comes late is told so.
func TestBrowserDrawOfNobody(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	browser, page := webtest.Browser(t), "http://"+s.listen(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{Phone: true})
	mei := enterInChinese(t, browser, page, "Mei", webtest.Screen{})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q]`, userID(ann), userID(mei)).Room.ID
	for _, v := range []*webtest.Visitor{ann, mei} {
		v.Press("link", "Tea")
		v.Has("textbox", "")
	}
	bob.packet(room, 200, 2, `,"greeting":"for tea","window_s":3`)
	ann.Press("button", "for tea")
	ann.Sees("Nobody entered", "¥2.00 went back to Bob.")
	mustBeAccessible(t, ann, "a draw of nobody")
	ann.Press("button", "Close")
	ann.Sees("Nobody entered · ¥2.00 returned", "Bob’s draw: Nobody entered")
	mei.Sees("没有人参与 · 退回 ¥2.00", "Bob的红包开奖")

	packet := bob.packet(room, 200, 3, `,"greeting":"for cake","window_s":3,"rest":"refund"`).ID
	bob.grab(packet)
	ann.Sees("The only one who entered won")
	mei.Sees("1 人参与，人人有份")
	ann.Press("button", "for cake")
	ann.Sees("The draw is over")
	ann.Press("button", "Check the draw")
	ann.Sees("Checked in this browser: the draw is right", "The list has exactly the 1 person who entered")
}

// TestBrowserDrawWithPassphrase enters a draw that asks for a passphrase, with the keyboard. Once the user is in, the page asks no more, and the keyboard stays in
// the envelope.
func TestBrowserDrawWithPassphrase(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	bob.packet(room, 123, 1, `,"greeting":"for tea","window_s":10,"passphrase":"oolong"`)
	ann.Press("link", "Tea")
	ann.Press("button", "for tea")
	ann.Fill("Passphrase", "sencha")
	ann.Key("\r")
	ann.Sees("That isn’t the passphrase.")
	ann.Fill("Passphrase", "oolong")
	ann.Key("\r")
	ann.Sees("You’re in")
	ann.Lacks("textbox", "Passphrase")
	awaitAsk(t, ann, `document.activeElement.matches('.opening-coin')`)
	ann.Sees("You won", "¥1.23", "The only one who entered won")
}

// TestBrowserDrawTampered changes the proof on its way. The page must name what is wrong, and say so if it cannot check a signature.
func TestBrowserDrawTampered(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	type document = map[string]any
	var change atomic.Pointer[func(document)]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := change.Load()
		if f == nil || !strings.HasSuffix(r.URL.Path, "/proof") {
			s.Handler().ServeHTTP(w, r)
			return
		}
		recorded := httptest.NewRecorder()
		s.Handler().ServeHTTP(recorded, r)
		var d document
		if err := json.Unmarshal(recorded.Body.Bytes(), &d); err != nil {
			t.Error(err)
		}
		(*f)(d)
		_ = json.NewEncoder(w).Encode(d)
	}))
	t.Cleanup(server.Close)
	bob, cyn := s.httpGuest(t, "Bob"), s.httpGuest(t, "Cyn")
	ann := visitAsGuest(t, webtest.Browser(t), server.URL, "Ann", webtest.Screen{Calm: true})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	cyn.does("join", `"room":%q`, room)
	ann.Press("link", "Tea")
	ann.Has("textbox", "Message")
	packet := bob.packet(room, 200, 2, `,"greeting":"for tea","window_s":10`).ID
	bob.grab(packet)
	cyn.grab(packet)
	ann.Press("button", "for tea")
	ann.Press("button", "Enter")
	ann.Sees("2 of 3 win")
	ann.Press("button", "Close")
	ann.Sees("You’re in · 2 of 3 win")
	ann.Sees("2 of 3 won")
	ann.Press("button", "for tea")
	wave := func(d document) document { return d["waves"].([]any)[0].(document) }
	const good, bad = "Checked in this browser: the draw is right", "Checked in this browser: something is wrong"
	checked := func(what string, says ...string) {
		t.Helper()
		ann.Press("button", "Check the draw")
		ann.Sees(says...)
		if what != "" && !strings.Contains(ann.Text(), what) {
			t.Errorf("the page does not say %q", what)
		}
		ann.Screenshot(what)
		ann.Press("button", "Close")
		ann.Lacks("button", "Check the draw")
		ann.Press("button", "for tea")
	}
	checked("You are in the list", good)
	for _, c := range []struct {
		says   string
		change func(document)
	}{
		{"The proof is not that of this draw", func(d document) { d["packet"] = "another" }},
		{"The proof is not that of this draw", func(d document) { delete(d, "waves") }},
		{"The proof is incomplete", func(d document) { d["seed"] = "" }},
		{"The secret is not the one that was promised", func(d document) { d["seed"] = strings.Repeat("00", 32) }},
		{"The amounts do not follow from the secret", func(d document) { d["shares"] = []int{100, 100} }},
		{"The list of those who entered was changed", func(d document) { wave(d)["leaves"].([]any)[0] = strings.Repeat("00", 32) }},
		{"The winners are not those", func(d document) {
			w := wave(d)["winners"].([]any)
			w[0], w[1] = w[1], w[0]
		}},
	} {
		change.Store(&c.change)
		checked(c.says, bad)
	}
	change.Store(nil)
	webtest.Ask[bool](ann.Tab, `crypto.subtle.importKey = () => Promise.reject(new DOMException('unknown', 'NotSupportedError')), true`)
	checked("This browser can’t check the signature of your receipt", good)
}
