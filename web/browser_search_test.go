package web

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

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

// TestBrowserSearchInTheList types a name into the list of rooms: it must find rooms, people that the user has met, and the way to the texts. A person leads to a direct
// chat, which is a room of the list from then on.
func TestBrowserSearchInTheList(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob, rose := s.httpGuest(t, "Bob Rosen"), s.httpGuest(t, "Rose")
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	garden := bob.does("create_room", `"name":"Rose garden","members":[%q,%q]`, userID(ann), rose.User.ID).Room.ID
	tea, _ := twoRooms(t, bob, ann)
	bob.does("send", `"room":%q,"text":"a rose for you"`, tea)
	rose.does("send", `"room":%q,"text":"hello"`, garden)
	ann.Sees("a rose for you")
	ann.Press("searchbox", "Search rooms and people")
	ann.Key("ros")
	mustListRooms(t, ann, "Rose garden")
	ann.Has("button", "Rose")
	ann.Has("button", "Bob Rosen")
	ann.Has("button", "Search messages for “ros”")
	ann.Screenshot("found")
	for range 2 {
		ann.Key(kb.ArrowDown) // over the room to the people
	}
	awaitAsk(t, ann, `document.activeElement.matches('.person-row')`)
	ann.Press("button", "Rose")
	ann.Has("heading", "Rose")
	awaitAsk(t, ann, `document.querySelector('input[type=search]').value === ''`)
	ann.Press("searchbox", "Search rooms and people")
	ann.Key("ros")
	mustListRooms(t, ann, "Rose", "Rose garden")
	awaitAsk(t, ann, `document.querySelectorAll('.rooms .person-row').length === 1`)
	ann.Press("searchbox", "Search rooms and people")
	ann.Key(" nowhere")
	ann.Sees("None of your rooms is called “ros nowhere”, and nobody you have met.")

	mei := ann.Again(t, page, webtest.Screen{Phone: true, Dark: true, Language: "zh-CN"})
	mei.Sees("a rose for you")
	mei.Press("searchbox", "搜索群聊和联系人")
	mei.Key("rosen")
	mei.Sees("联系人")
	mei.Screenshot("phone")
	mei.Press("button", "Bob Rosen")
	mei.Has("heading", "Bob Rosen")
}

// TestBrowserSearchOnAPhone chooses a hit on a phone. The way back must lead to the hits, at the same place.
func TestBrowserSearchOnAPhone(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	roomsToSearch(t, bob, ann)
	ann.Press("searchbox", "Search rooms and people")
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

// mustFind waits until so many messages are found.
func mustFind(t *testing.T, v *webtest.Visitor, count int) {
	t.Helper()
	awaitAsk(t, v, fmt.Sprintf(`document.querySelectorAll('.search ul:not(.search-old) > li > .panel-row').length === %d && !document.querySelector('.search [aria-busy=true]')`, count))
}

// TestBrowserSearchFilters narrows a search by each filter: with the mouse, by keys, typed, and on a phone in Chinese. Filters that leave nothing must say so.
func TestBrowserSearchFilters(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	browser := webtest.Browser(t)
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	tea, cake := roomsToSearch(t, bob, ann)
	bob.does("send", `"room":%q,"files":[%q],"text":"the plan of the lantern"`, tea, bob.upload(tea, "file", []byte("1. buy"), `,"name":"lantern list.pdf","type":"application/pdf"`))
	ann.Press("link", "Cake")
	ann.Fill("Message", "my own lantern")
	ann.Press("button", "Send")
	awaitAsk(t, ann, `document.querySelectorAll('.line.own:not(.unsent)').length === 1`)

	ann.Press("button", "Search messages")
	ann.Sees("Filters can be typed")
	ann.Fill("Words to find", "lantern")
	mustFind(t, ann, 5)
	ann.Press("button", "Kind")
	ann.Press("button", "Files")
	mustFind(t, ann, 1)
	ann.Sees("the plan of the lantern " + "lantern list.pdf")
	ann.Screenshot("kind")
	ann.Press("button", "Files") // the chip
	ann.Press("button", "Red packets")
	mustMark(t, ann, "lantern")
	ann.Press("button", "Remove the filter “Red packets”")
	mustFind(t, ann, 5)
	awaitAsk(t, ann, `document.activeElement.dataset.filter === 'kind'`)

	ann.Press("button", "From")
	awaitAsk(t, ann, `document.activeElement.matches('.filter-chooser input')`)
	ann.Screenshot("senders")
	ann.Key("you")
	ann.Key(kb.ArrowDown)
	ann.Key("\r")
	ann.Has("button", "From: You")
	mustFind(t, ann, 1)
	ann.Sees("my own")
	awaitAsk(t, ann, `document.activeElement.dataset.filter === 'from'`)
	ann.Press("button", "Room")
	awaitAsk(t, ann, `document.activeElement.matches('.filter-chooser input')`)
	ann.Key("te")
	awaitAsk(t, ann, `document.querySelectorAll('.filter-row').length === 1`)
	ann.Key(kb.ArrowDown)
	ann.Key("\r")
	ann.Has("button", "In: Tea")
	ann.Sees("Nothing found for “lantern” with these filters.")
	ann.WaitForAnimations()
	ann.Screenshot("nothing")
	ann.Press("button", "Remove the filters")
	mustFind(t, ann, 5)
	awaitAsk(t, ann, `document.activeElement.matches('.search-field input')`)

	ann.Press("button", "Date")
	ann.Screenshot("dates")
	ann.Key("\x1b")
	ann.Lacks("group", "Date")
	ann.Press("button", "Date")
	ann.Press("button", "Last 7 days")
	mustFind(t, ann, 5)
	ann.Has("button", "Since ")
	ann.Fill("Words to find", "lantern from:bob before:2020-01-01 kind:text")
	ann.Has("button", "From: Bob")
	ann.Key("\r")
	ann.Has("button", "Texts")
	awaitAsk(t, ann, `document.querySelector('.search-field input').value.trim() === 'lantern'`)
	ann.Sees("with these filters")
	ann.Press("button", "Remove the filters")
	mustFind(t, ann, 5)
	ann.Fill("Words to find", "lantern from:nobody ")
	ann.Sees("Nobody by that name.")
	ann.Key("\x1b")
	ann.Has("textbox", "Words to find") // Escape has closed the filter alone
	bob.does("send", `"room":%q,"text":"a late lantern"`, cake)

	mei := ann.Again(t, page+"/#/room/"+tea+"/search-room", webtest.Screen{Phone: true, Dark: true, Language: "zh-CN"})
	mei.Fill("搜索内容", "biscuit")
	mei.Press("button", "发送人")
	mei.Has("textbox", "谁发的？") // before, only hits are called so
	mei.Press("button", "Bob")
	mei.Has("button", "发送人：Bob")
	awaitAsk(t, mei, `(document.querySelector('.sheet-body').scrollTop = 1e6, document.body.innerText.includes('line 0 of biscuit'))`) // the next page has come
	mei.Press("button", "line 0 of biscuit")
	mei.Lacks("textbox", "搜索内容")
	awaitAsk(t, mei, `[...document.querySelectorAll('.line')].some((e) => {
		const { top, bottom } = e.getBoundingClientRect();
		return e.innerText.includes('line 0 of biscuit') && top >= 0 && bottom <= innerHeight;
	})`)
	mei.Back()
	mei.Has("button", "发送人：Bob")
	mei.Press("button", "类型")
	mei.Press("button", "红包")
	mei.Sees("按这些条件没有找到「biscuit」")
	mei.WaitForAnimations()
	mei.Screenshot("phone")
	mei.Press("button", "清除筛选条件")
	mei.Sees("line 59 of biscuit")
}

// TestBrowserOldMessage finds a message of a month ago in a room with much said since, by its words and its days, on a desk and, in Chinese, on a phone. The
// hit leads to the message among its neighbours, there is a way back to the hits, and one to the newest messages.
func TestBrowserOldMessage(t *testing.T) {
	enginetest.Nightly(t, "page")
	engines := newTestEngines(t)
	var ago atomic.Int64 // a time.Duration
	engines.rooms.Now = func() time.Time { return time.Now().Add(-time.Duration(ago.Load())) }
	s := engines.open(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	ago.Store(int64(30 * 24 * time.Hour))
	for n := range 40 {
		bob.does("send", `"room":%q,"text":"before %d"`, tea, n)
	}
	old := bob.does("send", `"room":%q,"text":"the harbour at night 夜里的港口"`, tea).Seq
	for n := range 40 {
		bob.does("send", `"room":%q,"text":"after %d"`, tea, n)
	}
	ago.Store(0)
	for n := range 120 {
		bob.does("send", `"room":%q,"text":"harbour %d 港口"`, tea, n)
	}
	day := time.Now().Add(-30 * 24 * time.Hour).Format("2006-01-02")
	for _, how := range []struct {
		screen                                               webtest.Screen
		search, words, typed, filter, back, toNewest, marked string
	}{
		{webtest.Screen{}, "Search in Tea", "Words to find", "harbour on:" + day, "Remove the filter", "", "To the newest", "harbour"},
		{webtest.Screen{Phone: true, Dark: true, Language: "zh-CN"}, "在「Tea」中搜索", "搜索内容", "港口 日期：" + day, "去掉条件", "返回", "回到最新", "港口"},
	} {
		v := ann.Again(t, page+"/#/room/"+tea, how.screen)
		v.Sees("harbour 119")
		v.Press("button", how.search)
		v.Fill(how.words, how.typed+" ")
		v.Has("button", how.filter)
		mustMark(t, v, how.marked)
		v.Press("button", "夜里的")
		v.Sees("before 39", "after 0") // its neighbours
		awaitAsk(t, v, fmt.Sprintf(`(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.querySelector('.line[data-seq="%d"]').getBoundingClientRect())`, old))
		v.WaitForAnimations()
		v.Screenshot("found " + how.words)
		if how.back != "" {
			v.Back() // to the hits
			v.Has("button", how.filter)
			mustMark(t, v, how.marked)
			v.Back()
		} else {
			v.Key("\x1b")
		}
		v.Lacks("textbox", how.words)
		v.Press("button", how.toNewest)
		v.Sees("harbour 119")
		v.Misses("before 39")
	}
}
