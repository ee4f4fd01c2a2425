package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// mustGrabWaves makes a page grab in each wave as its users do, and counts them: grab is JavaScript that grabs.
func mustGrabWaves(t *testing.T, v *webtest.Visitor, grab string) {
	t.Helper()
	webtest.Ask[int](v.Tab, fmt.Sprintf(`window.waves = 0, window.entered = false, new MutationObserver(() => {
		const now = Boolean(document.querySelector('.rain-bar.now'));
		if (now && !entered) { waves++; setTimeout(() => { %s }, 100); }
		entered = now;
	}).observe(document.body, { subtree: true, childList: true, attributes: true }), 0`, grab))
}

// TestBrowserRain sends a rain with the keyboard. One user taps envelopes that fall, in Chinese; another presses the button with reduced motion, and reloads the
// page in between. Both see what they have caught in all, and check the draws of the waves.
func TestBrowserRain(t *testing.T) {
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
		v.Has("textbox", "")
	}
	mustGrabWaves(t, mei, `document.querySelector('.rain-drop').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, cancelable: true }))`)

	ann.Press("button", "Send a red packet")
	ann.Has("radio", "Rain")
	webtest.Ask[bool](ann.Tab, `document.querySelector('[name=compose-way]').focus(), true`)
	ann.Key(kb.ArrowRight)
	ann.Key(kb.ArrowRight)
	ann.Has("radio", "20")
	ann.Press("radio", "3")
	ann.Press("radio", "30 sec")
	ann.Fill("Total", "6")
	ann.Fill("How many shares", "7")
	ann.Sees("The waves must have equally many: 9, for example")
	ann.Fill("How many shares", "6")
	ann.Sees("2 shares with each wave")
	mustBeAccessible(t, ann, "the form of a rain")
	ann.Screenshot("compose")
	ann.Fill("Greeting", "for tea")
	ann.Press("button", "Send ¥6.00")

	bob.Sees("3 waves over 30 sec", "The next wave may come any moment")
	awaitAsk(t, bob, `(document.querySelector('.rain-bar:not(.now) button')?.click(), document.body.innerText.includes('Between two waves. Keep your thumb ready!'))`)
	bob.Sees("Envelopes are falling. Grab one!")
	if n := webtest.Ask[int](bob.Tab, `document.querySelectorAll('.rain-drop').length`); n != 0 {
		t.Errorf("with reduced motion %d envelopes fall", n)
	}
	webtest.Ask[bool](bob.Tab, `document.querySelector('.rain-grab').focus(), true`)
	bob.Key(" ")
	bob.Sees("You caught")
	mustBeAccessible(t, bob, "a rain")
	bob.Screenshot("caught")
	bob.Reload()
	bob.Sees("of 3", "in 1 wave")
	mustGrabWaves(t, bob, `document.querySelector('.rain-grab').click()`)
	bob.Sees("The rain is over. You caught")
	bob.Screenshot("end")
	mei.Sees("红包雨下完了，你中了 3 阵")
	mei.Screenshot("end")
	ann.Sees("Your rain:", "shares caught")
	if text := ann.Text(); strings.Contains(text, "You caught") {
		t.Errorf("the sender, who has not grabbed, reads %q", text)
	}

	mei.Press("button", "for tea")
	mei.Sees("你一共抢中", "第 3 阵")
	mei.Press("button", "验证抽奖")
	mei.Sees("已在本浏览器验证：抽奖结果无误", "每一阵的时间由种子算出", "各阵名单正好是参与的")
	mustBeAccessible(t, mei, "the checked rain")
	mei.Screenshot("checked")
	bob.Press("button", "for tea")
	bob.Press("button", "Check the draw")
	bob.Sees("Checked in this browser: the draw is right", "Your receipt is signed by this server")
	mustBeAccessible(t, bob, "the checked rain")
}

// TestBrowserRainOfNobody sends a rain with a passphrase that nobody catches, and to which a user comes late.
func TestBrowserRainOfNobody(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	bob.packet(room, 300, 3, `,"greeting":"for tea","waves":3,"over_s":10,"passphrase":"oolong"`)
	ann.Press("link", "Tea")
	ann.Fill("Passphrase", "sencha")
	ann.Sees("Envelopes are falling. Grab one!")
	ann.Press("button", "Grab")
	ann.Sees("That isn’t the passphrase.")
	mustBeAccessible(t, ann, "a rain with a passphrase")
	ann.Sees("Nobody caught one · ¥3.00 returned", "Bob’s rain: Nobody caught one")
	ann.Press("button", "for tea")
	ann.Sees("3 waves over 10 sec · Nobody caught one · ¥3.00 returned")
}
