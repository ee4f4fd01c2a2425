package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/webtest"
)

// TestBrowserPictures saves pictures of the main views for a review by eye: make pictures.
func TestBrowserPictures(t *testing.T) {
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
			s := f.populate(u, how.in)
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
