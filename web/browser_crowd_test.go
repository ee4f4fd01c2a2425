package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// TestBrowserBlockedTexts blocks a member of a room. That member's texts must be folded in the room, in its row and in quotes, until the user asks for them; packets stay.
func TestBrowserBlockedTexts(t *testing.T) {
	enginetest.Nightly(t, "page")
	s, bob, ann, room := annInTea(t)
	bob.does("send", `"room":%q,"text":"buy my tea"`, room)
	seq := bob.does("send", `"room":%q,"text":"the best tea"`, room).Seq
	cyn := s.httpGuest(t, "Cyn")
	cyn.does("join", `"room":%q`, room)
	cyn.does("send", `"room":%q,"text":"please stop","reply_to":%d`, room, seq)
	ann.Sees("please stop", "the best tea")
	ann.Press("button", "Bob")
	ann.Press("button", "Block")
	ann.Press("button", "Block")
	ann.Press("button", "Close")
	ann.Sees("2 messages of a blocked person", "1 message of a blocked person") // the second one is the quote
	ann.Misses("the best tea")
	bob.does("send", `"room":%q,"text":"tea again"`, room)
	bob.packet(room, 200, 2, `,"greeting":"a gift"`)
	ann.Sees("a gift")
	ann.Misses("tea again")
	ann.InjectScript(lateContacts)
	ann.Reload()
	ann.Sees("a gift", "2 messages of a blocked person")
	if webtest.Ask[bool](ann.Tab, `window.leaked`) {
		t.Error("before the page knows which users are blocked, it shows their texts")
	}
	ann.Press("button", "2 messages of a blocked person")
	ann.Sees("buy my tea")
	ann.Misses("tea again")
}

// lateContacts delays the page's question which users are blocked, and records whether a text of Bob is shown meanwhile.
const lateContacts = `(() => {
	const { send } = WebSocket.prototype;
	WebSocket.prototype.send = function (data) {
		if (String(data).includes('"contacts"')) setTimeout(() => send.call(this, data), 1500);
		else send.call(this, data);
	};
	window.leaked = false;
	(function look() {
		leaked ||= /buy my tea|the best tea|tea again/.test(document.body?.innerText);
		requestAnimationFrame(look);
	})();
})()`

// TestBrowserKeys switches rooms by keys alone, and lists the keys. A fresh visit must open the room of the last one.
func TestBrowserKeys(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	tea, cake := twoRooms(t, bob, ann)
	bob.does("send", `"room":%q,"text":"hello"`, tea)
	ann.Sees("hello")
	ann.Key("k", chromedp.ModifierCtrl)
	awaitAsk(t, ann, `document.activeElement.matches('.rooms-search input')`)
	ann.Key("cak")
	ann.Lacks("link", "Tea")
	ann.Key("\r")
	awaitAsk(t, ann, fmt.Sprintf(`location.hash === '#/room/%s'`, cake))
	ann.Has("textbox", "Message")
	ann.Key("?")
	ann.Lacks("heading", "Keyboard") // it is text there
	ann.Key(kb.ArrowUp, chromedp.ModifierAlt)
	awaitAsk(t, ann, `document.activeElement.value === '?'`) // a field with text keeps its arrows
	ann.Has("heading", "Cake")
	ann.Key(kb.Backspace)
	ann.Key(kb.ArrowUp, chromedp.ModifierAlt)
	awaitAsk(t, ann, fmt.Sprintf(`location.hash === '#/room/%s'`, tea))
	again := ann.Again(t, page, webtest.Screen{})
	awaitAsk(t, again, fmt.Sprintf(`location.hash === '#/room/%s'`, tea))
	webtest.Ask[int](again.Tab, `document.activeElement.blur(), 0`)
	again.Key("?")
	again.Has("heading", "Keyboard")
	mustBeAccessible(t, again, "keys")
	again.Key("\x1b")
	again.Lacks("heading", "Keyboard")
	again.Press("button", "Settings")
	again.Press("switch", "The key ?")
	again.Press("button", "Close")
	awaitAsk(t, again, `!document.querySelector('dialog[open]')`)
	webtest.Ask[int](again.Tab, `document.activeElement.blur(), 0`)
	again.Key("?")
	again.Key("k", chromedp.ModifierCtrl)
	awaitAsk(t, again, `document.activeElement.matches('.rooms-search input')`) // no dialog has kept the key
	phone := again.Again(t, page, webtest.Screen{Phone: true})
	phone.Has("link", "Tea") // there the list is the page
}

// TestBrowserMessageMenuBesideMessage opens the menu of a message on a desk: it must stand beside the message and move nothing.
func TestBrowserMessageMenuBesideMessage(t *testing.T) {
	enginetest.Nightly(t, "page")
	_, bob, ann, room := annInTea(t)
	bob.does("send", `"room":%q,"text":"hello"`, room)
	awaitAsk(t, ann, `document.querySelector('.bubble')?.innerText.includes('hello')`)
	const box = `(({ x, y, width, height }) => [x, y, width, height].join())(document.querySelector('.bubble').getBoundingClientRect())`
	before := webtest.Ask[string](ann.Tab, box)
	webtest.Ask[int](ann.Tab, `document.querySelector('.more-button').click(), 0`)
	ann.Has("button", "Reply")
	if after := webtest.Ask[string](ann.Tab, box); after != before {
		t.Errorf("the message was at %s, and is at %s", before, after)
	}
	awaitAsk(t, ann, `(() => {
		const menu = document.querySelector('dialog').getBoundingClientRect(), said = document.querySelector('.bubble').getBoundingClientRect();
		return Math.min(Math.abs(menu.bottom - said.top), Math.abs(menu.top - said.bottom)) < 20 && Math.abs(menu.left - said.left) < 20;
	})()`)
	mustBeAccessible(t, ann, "menu")
	ann.SetScreen(webtest.Screen{Phone: true}) // a narrow window has no place beside a message
	awaitAsk(t, ann, `(({ left, right, bottom }) => left === 0 && right === innerWidth && Math.abs(bottom - innerHeight) < 1)(document.querySelector('dialog').getBoundingClientRect())`)
	ann.Press("button", "Reply")
	ann.Sees("Reply to Bob")
}

// TestBrowserPacketForPerson opens the form of a packet from the sheet of a user, for that user.
func TestBrowserPacketForPerson(t *testing.T) {
	enginetest.Nightly(t, "page")
	_, bob, ann, room := annInTea(t)
	bob.does("send", `"room":%q,"text":"hello"`, room)
	ann.Press("button", "Bob")
	ann.Press("button", "Red packet")
	awaitAsk(t, ann, `document.querySelector('input[name=compose-one]:checked')?.closest('label').innerText.includes('Bob')`)
}

// TestBrowserPictureAtTheDoor chooses a picture before signing in.
func TestBrowserPictureAtTheDoor(t *testing.T) {
	enginetest.Nightly(t, "page")
	page := "http://" + newTestServer(t, withGuests).listen(t)
	for _, screen := range []webtest.Screen{{}, {Phone: true, Dark: true}} {
		ann := webtest.Browser(t).Visit(t, page, screen)
		ann.Press("DisclosureTriangle", "Choose a picture")
		ann.Press("radio", "Tiger")
		mustBeAccessible(t, ann, "door")
		ann.WaitForAnimations()
		ann.Screenshot("door")
		ann.Fill("What may we call you?", "Ann")
		ann.Key("\r")
		awaitAsk(t, ann, `document.querySelector('.rooms-me img')?.src.endsWith('avatars/3.svg')`)
	}
}
