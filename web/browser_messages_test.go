package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// annInTea opens a room for Ann on a desk. Bob has made it.
func annInTea(t *testing.T) (s *testServer, bob *httpGuest, ann *webtest.Visitor, room string) {
	t.Helper()
	s = newTestServer(t, withGuests)
	bob = s.httpGuest(t, "Bob")
	ann = visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	room = bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	ann.Press("link", "Tea")
	return s, bob, ann, room
}

// TestBrowserRecall takes messages back and removes others' messages. Both must be confirmed, and the page must say which user did it, also
// after a reload. A text that its sender has taken back can be written again.
func TestBrowserRecall(t *testing.T) {
	enginetest.Nightly(t, "page")
	_, bob, ann, room := annInTea(t)
	say := func(text string) {
		ann.Fill("Message", text)
		ann.Key("\r")
		ann.Sees(text)
		ann.Lacks("image", "Being sent")
	}
	say("first of Ann")
	const last = `Number([...document.querySelectorAll('.line[data-seq]')].filter((e) => e.querySelector('.text')).at(-1).dataset.seq)`
	first := webtest.Ask[int](ann.Tab, last)
	openLast := func() {
		webtest.Ask[string](ann.Tab, fmt.Sprintf(`location.hash = '#/room/%s/message/' + %s`, room, last))
	}
	bob.does("recall", `"room":%q,"seq":%d`, room, first)
	ann.Sees("Bob removed your message")
	ann.Misses("first of Ann")
	ann.Reload()
	ann.Sees("Bob removed your message")
	if text := ann.Text(); strings.Contains(text, "You took") {
		t.Errorf("the page says that Ann took the message back:\n%s", text)
	}

	say("second of Ann")
	openLast()
	ann.Press("button", "Take back for everyone")
	ann.Sees("Take this message back?")
	ann.Press("button", "Cancel")
	ann.Press("button", "Take back for everyone")
	ann.Press("button", "Take back")
	ann.Sees("You took this message back")
	ann.Press("button", "Write again")
	awaitAsk(t, ann, `document.activeElement.value === 'second of Ann'`)

	bob.does("send", `"room":%q,"text":"first of Bob"`, room)
	bob.does("set_role", `"room":%q,"user":%q,"role":"admin"`, room, userID(ann))
	ann.Sees("You are an admin now")
	remove := func() {
		openLast()
		ann.Press("button", "Remove for everyone")
		ann.Sees("Remove Bob’s message?")
		ann.Press("button", "Remove")
	}
	webtest.Ask[int](ann.Tab, `window.told = '', new MutationObserver((_, all) => {
		const undo = document.querySelector('.toast-act');
		if (undo) all.disconnect(), told = document.body.innerText, undo.click();
	}).observe(document.body, { subtree: true, childList: true }), 0`) // at once, because the removal waits only 5 s
	remove()
	awaitAsk(t, ann, `told.includes('Bob’s message is about to be removed.')`)
	ann.Sees("The message stays.")
	ann.Misses("about to be removed")
	webtest.Ask[bool](ann.Tab, `new Promise((passed) => setTimeout(() => passed(true), 5500))`) // longer than the removal waits
	ann.Sees("first of Bob")
	remove()
	ann.Sees("You removed this message")
	ann.Misses("first of Bob")
}

// TestBrowserReadReceiptsStay reloads the page after another user has read: the page must still show it.
func TestBrowserReadReceiptsStay(t *testing.T) {
	enginetest.Nightly(t, "page")
	_, bob, ann, room := annInTea(t)
	ann.Fill("Message", "hello")
	ann.Key("\r")
	ann.Lacks("image", "Being sent")
	bob.does("read", `"room":%q,"seq":1000`, room)
	ann.Has("image", "Read")
	ann.Reload()
	ann.Sees("hello")
	ann.Has("image", "Read")
}

// TestBrowserUnsentOutlivesTheTab writes while the connection carries nothing, and closes the tab. The next tab must send the text, once.
func TestBrowserUnsentOutlivesTheTab(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	ann.Press("link", "Tea")
	ann.Has("textbox", "Message")
	webtest.Ask[int](ann.Tab, `WebSocket.prototype.send = () => {}, 0`)
	ann.Fill("Message", "from the tunnel")
	ann.Key("\r")
	ann.Has("image", "Being sent")
	ann.Do(chromedp.Navigate("about:blank"))

	next := ann.Again(t, page+"/#/room/"+room, webtest.Screen{})
	next.Sees("from the tunnel")
	next.Lacks("image", "Being sent")
	next.Reload()
	next.Sees("from the tunnel")
	if n := next.Count("listitem", "from the tunnel"); n > 1 {
		t.Errorf("the text is shown %d times", n)
	}
	if kept := webtest.Ask[string](next.Tab, `Object.keys(localStorage).filter((name) => name.startsWith('hongbao-unsent')).join()`); kept != "" {
		t.Errorf("the browser still keeps %s", kept)
	}

	webtest.Ask[int](next.Tab, `WebSocket.prototype.send = () => {}, 0`)
	next.Fill("Message", "from another tunnel")
	next.Key("\r")
	next.Has("image", "Being sent")
	bob.does("mute", `"room":%q,"user":%q,"seconds":3600`, room, userID(next))
	next.Do(chromedp.Navigate("about:blank"))
	muted := next.Again(t, page+"/#/room/"+room, webtest.Screen{})
	s.eventually(t, "a refused text is forgotten, so that no later tab sends it", func() bool {
		return webtest.Ask[string](muted.Tab, `Object.keys(localStorage).filter((name) => name.startsWith('hongbao-unsent')).join()`) == ""
	})
}

// TestBrowserPublicRoomsRenew looks at the empty page while another user creates a public room: the page must list it.
func TestBrowserPublicRoomsRenew(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	ann.Sees("No public rooms yet")
	bob.does("create_room", `"name":"Tea","kind":"public"`)
	ann.Press("button", "Join Tea")
	ann.Has("heading", "Tea")
}

// TestBrowserNamesStayInPlace looks at a room with a name from right to left: the name must begin where other names do.
func TestBrowserNamesStayInPlace(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	bob.does("create_room", `"name":"שלום","kind":"public","members":[%q]`, userID(ann))
	ann.Press("link", "שלום")
	ann.Has("heading", "שלום")
	if wrong := webtest.Ask[[]string](ann.Tab, `[...document.querySelectorAll('[dir=auto].cut')].map((e) => {
		const range = document.createRange();
		range.selectNodeContents(e);
		const [text, box] = [range.getBoundingClientRect(), e.getBoundingClientRect()];
		return text.left - box.left > 1 ? e.outerHTML + ' begins ' + (text.left - box.left) + ' pixels from the left' : '';
	}).filter(Boolean)`); len(wrong) > 0 {
		t.Errorf("%q", wrong)
	}
}

// TestBrowserEmojis finds emojis by a word and by their group, in the user's language, and writes and reacts with them.
func TestBrowserEmojis(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	browser := webtest.Browser(t)
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	mei := browser.Visit(t, page, webtest.Screen{Phone: true, Language: "zh-CN"})
	mei.Fill("怎么称呼你？", "小美")
	mei.Key("\r")
	mei.Has("button", "小美 打开设置")
	meiID := webtest.Ask[string](mei.Tab, `JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(localStorage.getItem("hongbao-guest").split(".")[1].replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0)))).sub`)
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q]`, userID(ann), meiID).Room.ID
	bob.does("send", `"room":%q,"text":"tea?"`, room)
	ann.Press("link", "Tea")
	ann.Press("button", "Emojis")
	ann.Fill("Find an emoji", "no such thing")
	ann.Sees("No emoji has this word.")
	ann.Fill("Find an emoji", "teacup")
	ann.Press("button", "🍵")
	ann.Press("button", "Emojis")
	ann.Press("button", "Flags")
	ann.Press("button", "🇨🇳")
	ann.Press("button", "Send")
	ann.Sees("🍵🇨🇳")

	mei.Press("link", "Tea")
	mei.Press("button", "表情")
	mei.Fill("搜索表情", "红包")
	mei.Press("button", "🧧")
	mei.Press("button", "发送")
	ann.Sees("🧧")
}

// inView evaluates to whether a text of the timeline is within its visible part.
const inView = `((text) => {
	const box = document.querySelector('.timeline-box')?.getBoundingClientRect();
	return box && [...document.querySelectorAll('.timeline-box .line')].some((line) => {
		const { top, bottom } = line.getBoundingClientRect();
		return line.innerText.includes(text) && top >= box.top - 1 && bottom <= box.bottom + 1;
	});
})`

// TestBrowserQuotesAndOwnMessages follows a quote to a message far above, and goes back to the reply. A message that the user then writes must be shown.
func TestBrowserQuotesAndOwnMessages(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	bob.does("send", `"room":%q,"text":"the very first"`, room)
	first := bob.history(room)
	for n := range 150 {
		bob.does("send", `"room":%q,"text":"line %d"`, room, n)
	}
	bob.does("send", `"room":%q,"text":"do you remember?","reply_to":%d`, room, first[len(first)-1].seq)
	ann.Press("link", "Tea")
	awaitAsk(t, ann, inView+`('do you remember?')`)
	awaitAsk(t, ann, `document.querySelector('.quote')?.innerText.includes('the very first')`)
	ann.WaitForAnimations()
	webtest.Ask[bool](ann.Tab, `document.querySelector('.quote').click(), true`)
	awaitAsk(t, ann, inView+`('the very first') && !`+inView+`('do you remember?')`)
	ann.Press("button", "Back to the reply")
	awaitAsk(t, ann, inView+`('do you remember?')`)
	ann.Lacks("button", "Back to the reply")
	webtest.Ask[bool](ann.Tab, `document.querySelector('.quote').click(), true`)
	awaitAsk(t, ann, inView+`('the very first') && !`+inView+`('do you remember?')`)
	ann.Fill("Message", "I do")
	ann.Press("button", "Send")
	awaitAsk(t, ann, inView+`('I do')`)
}

// TestBrowserRefusesPictures pastes and drops a picture into the message field of a server without files, in both languages. The page must say that it
// sends none, and the browser must not open a dropped file in place of the page. Text that comes with a picture is pasted.
func TestBrowserRefusesPictures(t *testing.T) {
	enginetest.Nightly(t, "page")
	engines := newTestEngines(t)
	engines.objects = nil
	s := engines.open(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	room := bob.does("create_room", `"name":"Tea","members":[%q]`, userID(ann)).Room.ID
	give := func(v *webtest.Visitor, event, text string) (refused bool) {
		return webtest.Ask[bool](v.Tab, fmt.Sprintf(`((kind, text) => {
			const data = new DataTransfer();
			data.items.add(new File(['x'], 'tea.png', { type: 'image/png' }));
			if (text) data.items.add(text, 'text/plain');
			const how = { bubbles: true, cancelable: true };
			const event = kind === 'paste' ? new ClipboardEvent(kind, { ...how, clipboardData: data }) : new DragEvent(kind, { ...how, dataTransfer: data });
			return !document.querySelector('.composer textarea').dispatchEvent(event);
		})(%q, %q)`, event, text))
	}
	ann.Press("link", "Tea")
	ann.Has("textbox", "Message")
	if give(ann, "paste", "tea") {
		t.Error("a text with a picture is not pasted")
	}
	for _, event := range []string{"dragover", "drop", "paste"} {
		if !give(ann, event, "") {
			t.Errorf("%s: the browser handles the picture itself", event)
		}
	}
	ann.Sees("Pictures and files can’t be sent here.")
	ann.Lacks("button", "Attach pictures or files")
	mei := ann.Again(t, page+"/#/room/"+room, webtest.Screen{Language: "zh-CN"})
	mei.Has("textbox", "消息")
	give(mei, "paste", "")
	mei.Sees("这里不能发图片和文件")
}
