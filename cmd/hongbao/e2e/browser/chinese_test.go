package browser

import (
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// TestBrowserChinese: in a Chinese browser every view is all Chinese. The user may choose English, and Chinese again.
func TestBrowserChinese(t *testing.T) {
	enginetest.Nightly(t, "page")
	t.Parallel()
	f := newFixture(t)
	f.addPublicRoom(chinese)
	yu := f.openPage(webtest.Screen{Phone: true, Language: "zh-CN"})
	yu.Sees("一起聊天，一起抢红包")
	mustBeChinese(t, yu, "sign-in")
	yu.Press("button", "进来聊聊")
	yu.Sees("先告诉大家怎么称呼你吧")
	yu.signInAs(chinese.me)
	yu.Sees("还没有群聊")
	mustBeChinese(t, yu, "no rooms")

	yu.Press("button", "新建群聊")
	yu.Fill("群名", "麻将搭子")
	yu.Press("button", "创建群聊")
	yu.Has("heading", "麻将搭子")
	yu.say("三缺一，谁来？")
	yu.Press("button", "发红包")
	yu.Fill("总金额", "8.88")
	yu.Fill("红包个数", "1")
	yu.Press("button", "塞进 ¥8.88")
	yu.Press("button", "恭喜发财")
	yu.Press("button", "开")
	yu.Sees("你抢到了", "¥8.88", "已存入钱包")
	yu.Press("button", "公平可验证")
	yu.Press("button", "验证公平")
	yu.Sees("种子与事先的承诺一致")
	mustBeChinese(t, yu, "proof")
	yu.Press("button", "关闭")
	yu.Sees("你的红包已被领完")

	for _, view := range f.populate(yu, chinese).views() {
		yu.goToView(view)
		mustBeChinese(t, yu, view.name)
	}
	yu.goTo("#/settings")
	yu.Press("radio", "English")
	yu.Sees("Sign out", "Your id")
	if got := webtest.Ask[string](yu.Tab, `document.documentElement.lang`); got != "en" {
		t.Errorf("after English is chosen, the page's lang is %q, want en", got)
	}
	yu.Reload()
	yu.Press("radio", "中文")
	yu.Sees("退出登录")
	mustBeChinese(t, yu, "Chinese chosen again")
}

// mustBeChinese fails the test for each English word that is visible or read by a screen reader.
func mustBeChinese(t *testing.T, u *browserUser, where string) {
	t.Helper()
	for _, word := range webtest.Ask[[]string](u.Tab, latin) {
		t.Errorf("%s: the page shows English: %q", where, word)
	}
}

// latin returns words in Latin letters, except names, addresses, units of sizes and what is printed on keys.
const latin = `(() => {
	const texts = [document.title, document.body.innerText];
	for (const e of document.querySelectorAll('[aria-label], [title], [placeholder], [alt]')) {
		for (const name of ['aria-label', 'title', 'placeholder', 'alt']) texts.push(e.getAttribute(name) ?? '');
	}
	const text = texts.join('\n').replace(/guest:\w+|hongbao .*|hongbao|[\d.]+ [kM]?B\b|English|\bID\b/g, '');
	const keys = [...document.querySelectorAll('kbd')].map((key) => key.innerText);
	return [...new Set(text.match(/.{0,20}[A-Za-z]{2,}.{0,20}/g) ?? [])].filter((words) => !keys.includes(words));
})()`
