package web

import (
	"testing"

	"hongbao/store/enginetest"
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
