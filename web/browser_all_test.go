package web

import (
	"testing"

	"hongbao/chat"
	"hongbao/store/enginetest"
	"hongbao/web/user/api"
	"hongbao/web/webtest"
)

// TestBrowserMentionAll has an admin on a desk mention all members. A member on a phone, in Chinese, must be told as of a mention by name. A plain member
// is not offered that, and what is written like it mentions nobody. A mention too many must say why, and hold up nothing.
func TestBrowserMentionAll(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests, withRates)
	page := "http://" + s.listen(t)
	browser := webtest.Browser(t)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	mei := browser.Visit(t, page, webtest.Screen{Phone: true, Dark: true, Language: "zh-CN"})
	mei.InjectScript(lastingBanners)
	mei.Reload()
	mei.Fill("怎么称呼你？", "Mei")
	mei.Key("\r")
	mei.Has("button", "Mei")
	room := func(name string) string {
		return bob.does("create_room", `"name":%q,"kind":"public","members":[%q,%q]`, name, userID(ann), userID(mei)).Room.ID
	}
	tea := room("Tea")
	room("Cake")
	bob.does("set_role", `"room":%q,"user":%q,"role":"admin"`, tea, userID(ann))

	mei.Press("link", "Cake")
	mei.Has("textbox", "消息")
	ann.Press("link", "Tea")
	ann.Fill("Message", "Dinner at seven, @")
	awaitAsk(t, ann, `document.querySelector('.suggestions li')?.innerText.replace(/\s+/g, ' ') === 'all everyone in this room'`)
	ann.Has("option", "Bob")
	ann.Screenshot("offered")
	ann.Press("option", "all")
	awaitAsk(t, ann, `document.querySelector('.composer textarea').value === 'Dinner at seven, @all '`)
	ann.Press("button", "Send")
	awaitAsk(t, ann, `document.querySelector('.line.own:not(.unsent) .mention:not(.me)')?.innerText === '@all'`)
	mei.Sees("Dinner at seven, @all")
	mei.Has("button", "Ann · Tea")
	mei.Screenshot("told")
	mei.Press("button", "Ann · Tea")
	awaitAsk(t, mei, `document.querySelector('.bubble.for-me .mention.me')?.innerText === '@all'`)
	mei.Press("textbox", "消息")
	mei.Key("@")
	mei.Has("option", "Bob")
	mei.Lacks("option", "所有人")
	mei.Fill("消息", "好的 @所有人")
	mei.Press("button", "发送")
	ann.Sees("好的 @所有人")
	awaitAsk(t, ann, `!document.querySelector('.for-me')`)

	for _, text := range []string{"@所有人七点开饭", "and (@all)!"} {
		ann.Fill("Message", text)
		ann.Press("button", "Send")
		mei.Sees(text)
	}
	awaitAsk(t, mei, `document.querySelectorAll('.bubble.for-me .mention.me').length === 3`)
	ann.Fill("Message", "not@all.example, @allison and @all-in")
	ann.Press("button", "Send")
	ann.Fill("Message", "@all once more")
	ann.Press("button", "Send")
	ann.Sees("@all works a few times an hour in a room.")
	ann.Screenshot("too often")
	ann.Fill("Message", "without it, then")
	ann.Press("button", "Send")
	mei.Sees("without it, then")
	awaitAsk(t, mei, `document.querySelectorAll('.bubble.for-me').length === 3`)
	mei.Screenshot("mentioned")
	mei.Press("button", "返回")
	mei.Has("heading", "Cake")
	mei.Press("button", "返回")
	mei.Press("button", "提到我的")
	awaitAsk(t, mei, `document.querySelectorAll('[aria-label="提到我的"] .panel-row, .sheet .panel-row').length === 3`)
}

// TestBrowserPreview shows what the host says of a link: on a desk and a phone, as a link to another tab. An edit without a preview takes it away, and an
// address that is no link of the web shows nothing.
func TestBrowserPreview(t *testing.T) {
	enginetest.Nightly(t, "page")
	engines := newTestEngines(t)
	hooks := &fakeHooks{}
	page := engines.open(t, withGuests, func(o *Options) { o.Hooks = hooks })
	bob := page.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+page.listen(t), "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	gives := func(p chat.Preview) {
		hooks.then(func(api.Question) (api.Verdict, error) { return api.Verdict{Preview: &p}, nil })
	}
	ann.Press("link", "Tea")
	ann.Has("textbox", "Message")
	gives(chat.Preview{
		URL: "https://tea.example/how?cups=2", Title: "How to make tea for two, or for a whole evening with friends who came too early", Text: "Seven steps, of which the fourth matters most: wait. <b>Then</b> wait again.",
	})
	ann.Fill("Message", "look: https://tea.example/how?cups=2")
	ann.Press("button", "Send")
	awaitAsk(t, ann, `(() => {
		const card = document.querySelector('.line.own:not(.unsent) a.preview');
		return card?.href === 'https://tea.example/how?cups=2' && card.target === '_blank' && card.rel === 'noopener noreferrer' && !card.querySelector('img') &&
			card.querySelector('.preview-host').innerText === 'tea.example' && card.innerText.includes('<b>Then</b>');
	})()`)
	gives(chat.Preview{URL: "https://说.example/", Title: "短"})
	seq := bob.does("send", `"room":%q,"text":"https://说.example/"`, tea).Seq
	awaitAsk(t, ann, `[...document.querySelectorAll('.preview-host')].some((e) => e.innerText === 'xn--h3t.example' || e.innerText.startsWith('xn--'))`)
	ann.Screenshot("desk")
	ann.SetScreen(webtest.Screen{Phone: true, Dark: true})
	ann.Has("button", "Back")
	awaitAsk(t, ann, `[...document.querySelectorAll('.preview')].every((e) => e.getBoundingClientRect().right < innerWidth && e.scrollWidth <= e.clientWidth)`)
	ann.Screenshot("phone")
	bob.does("edit", `"room":%q,"seq":%d,"text":"gone"`, tea, seq)
	ann.Sees("gone")
	awaitAsk(t, ann, `document.querySelectorAll('a.preview').length === 1`)
	gives(chat.Preview{URL: "javascript:alert(1)", Title: "bad"})
	bob.does("send", `"room":%q,"text":"no link"`, tea)
	ann.Sees("no link")
	if n := webtest.Ask[int](ann.Tab, `document.querySelectorAll('a.preview').length`); n != 1 {
		t.Errorf("%d cards, want 1", n)
	}
}
