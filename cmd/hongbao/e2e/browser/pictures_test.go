package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// TestBrowserPictures saves pictures of the main views for a review by eye: make nightly PART=page.
func TestBrowserPictures(t *testing.T) {
	enginetest.Nightly(t, "page")
	for _, how := range []struct {
		name string
		in   language
		webtest.Screen
	}{
		{"phone light zh", chinese, webtest.Screen{Phone: true, Language: "zh-CN"}},
		{"phone dark en", english, webtest.Screen{Phone: true, Dark: true}},
		{"desktop light en", english, webtest.Screen{}},
		{"desktop dark zh", chinese, webtest.Screen{Dark: true, Language: "zh-CN"}},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.addPublicRoom(how.in)
			u := f.openPage(how.Screen)
			u.Has("textbox", u.words.name)
			save := func(name string) {
				u.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 1, 1))
				u.WaitForAnimations()
				u.Screenshot(how.name + " " + name)
			}
			save("sign-in")
			u.signInAs(how.in.me)
			u.Sees(how.in.public)
			save("no rooms")
			began := time.Now()
			s := f.populate(u, how.in)
			u.spread(began, time.Now())
			for _, friend := range s.friends[:3] { // the pictures show them as online
				e2e.Connect(t, f.server, friend.GuestReply, false)
			}
			for _, view := range s.views() {
				u.goToView(view)
				save(view.name)
			}
			u.goTo("#/room/" + s.room)
			u.Misses(s.in.make)
			webtest.Ask[int](u.Tab, scrollTo(0))
			u.Sees(s.in.talkLines[0])
			save("room, earlier")
			webtest.Ask[int](u.Tab, scrollTo(99999))
			u.Press("button", s.in.open)
			u.Sees(s.in.look)
			u.Press("button", s.in.coin)
			u.Sees(s.in.kept)
			save("opened")
			u.Press("button", s.in.result)
			u.Sees(s.in.gone)
			save("opened details")
			u.goTo("#/room/" + s.room + "/packet/" + s.finished)
			u.Press("button", s.in.verify)
			u.Sees(s.in.proven)
			save("verified")
		})
	}
}

// spread makes the page show what was sent between two instants as if it had been sent during the last half hour, so that the pictures look like an
// evening.
func (u *browserUser) spread(from, to time.Time) {
	u.fixture.t.Helper()
	u.InjectScript(fmt.Sprintf(`(() => {
		const from = %d, to = %d, evening = 25 * 60_000, parse = JSON.parse;
		const times = ['at', 'created_at', 'closed_at'];
		JSON.parse = (text, revive) => parse(text, (key, value) => {
			const shown = times.includes(key) && value >= from && value <= to ? Math.round(to - (to - value) / (to - from) * evening) : value;
			return revive ? revive(key, shown) : shown;
		});
	})()`, from.UnixMilli(), to.UnixMilli()))
	u.Reload()
}

// scrollTo scrolls the timeline once it is in the document.
func scrollTo(top int) string {
	return fmt.Sprintf(`new Promise((done) => {
		const look = () => {
			const box = document.querySelector('.timeline-box');
			if (!box) { requestAnimationFrame(look); return; }
			box.scrollTop = %d;
			done(0);
		};
		look();
	})`, top)
}
