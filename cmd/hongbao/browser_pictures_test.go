package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"hongbao/web/webtest"
)

// TestBrowserPictures makes pictures of all main screens, for people to look at: make pictures.
func TestBrowserPictures(t *testing.T) {
	for _, how := range []struct {
		name string
		in   tongue
		webtest.Screen
	}{
		{"phone light zh", chinese, webtest.Screen{Phone: true, Language: "zh-CN"}},
		{"phone dark en", english, webtest.Screen{Phone: true, Dark: true}},
		{"desk light en", english, webtest.Screen{}},
		{"desk dark zh", chinese, webtest.Screen{Dark: true, Language: "zh-CN"}},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			s := newSalon(t)
			s.seat(how.in)
			v := s.visits(how.Screen)
			v.Has("textbox", v.words.name)
			shows := func(name string) {
				v.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 1, 1))
				v.Rest()
				v.Picture(how.name + " " + name)
			}
			shows("door")
			v.comesInAs(how.in.me)
			v.Sees(how.in.public)
			shows("no rooms")
			h := s.moves(v, how.in)
			for _, f := range h.friends[:3] {
				connect(t, s.node, f.GuestReply, false)
			}
			for _, place := range h.places() {
				v.at(place)
				shows(place.name)
			}
			v.goes("#/room/" + h.room)
			v.Misses(h.in.make)
			webtest.Ask[int](v.Tab, scrollTo(0))
			v.Sees(h.in.talkLines[0])
			shows("room, earlier")
			webtest.Ask[int](v.Tab, scrollTo(99999))
			v.Press("button", h.in.open)
			v.Press("button", h.in.coin)
			v.Sees(h.in.kept)
			shows("opened")
			v.Press("button", h.in.result)
			v.Sees(h.in.gone)
			shows("opened details")
			v.goes("#/room/" + h.room + "/packet/" + h.finished)
			v.Press("button", h.in.verify)
			v.Sees(h.in.proven)
			shows("verified")
		})
	}
}

// scrollTo moves the timeline, once it is there.
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
