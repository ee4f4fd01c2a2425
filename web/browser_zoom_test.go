package web

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// resize gives the visitor's window a size in CSS pixels. A zoom of 200 % halves it.
func resize(t *testing.T, v *webtest.Visitor, width, height int64) {
	t.Helper()
	_, err := webtest.Try(v.Tab, func(ctx context.Context, target *chromedp.Target) (json.RawMessage, error) {
		_, err := cdp.Call(ctx, target, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: width, Height: height, DeviceScaleFactor: 1,
		})
		return nil, err
	})
	noError(t, err)
}

// mustShowWhole fails the test unless an element and its focus ring are within the window.
func mustShowWhole(t *testing.T, v *webtest.Visitor, selector string) {
	t.Helper()
	v.WaitForAnimations()
	box := webtest.Ask[struct{ Left, Top, Right, Bottom, Width, Height float64 }](v.Tab, `(() => {
		const { left, top, right, bottom } = document.querySelector('`+selector+`').getBoundingClientRect();
		return { left, top, right, bottom, width: innerWidth, height: innerHeight };
	})()`)
	if box.Left < 4 || box.Top < 4 || box.Right > box.Width-4 || box.Bottom > box.Height-4 {
		t.Errorf("%s is at %+v", selector, box)
	}
}

// TestBrowserZoom signs in and opens an envelope at a zoom of 200 %: the buttons must be visible as a whole. On the narrowest phone the
// envelope and the text in the empty message field must fit.
func TestBrowserZoom(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	ann := webtest.Browser(t).Visit(t, page, webtest.Screen{})
	for _, height := range []int64{400, 330} { // of a large laptop and of a small one
		resize(t, ann, 640, height)
		ann.Has("button", "Come in")
		mustShowWhole(t, ann, ".door .button.primary")
	}
	ann.Fill("What may we call you?", "Ann")
	ann.Key("\r")
	ann.Sees("No rooms yet")
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	bob.packet(room, 123, 1, `,"greeting":"for tea"`)
	ann.Press("link", "Tea")
	ann.Press("button", "for tea")
	ann.Press("button", "Open")
	ann.Has("button", "Send one back")
	mustShowWhole(t, ann, ".opening-card .button.primary")

	bob.packet(room, 123, 1, `,"greeting":"for cake"`)
	resize(t, ann, 320, 640)
	ann.Press("button", "Close")
	ann.Has("textbox", "Message")
	ann.Reload()
	ann.Has("textbox", "Message")
	if got := webtest.Ask[[2]int](ann.Tab, `(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight])(document.querySelector('.writing textarea'))`); got[0] > got[1] || got[1] > 42 {
		t.Errorf("the empty message field has a content of %d pixels in %d", got[0], got[1])
	}
	ann.Press("button", "for cake")
	ann.Has("button", "Open")
	mustShowWhole(t, ann, ".opening-packet")
}

// TestBrowserPlaceholdersFit looks at each field of one line with a placeholder on the narrowest phone, in both languages. The text must fit into the field.
func TestBrowserPlaceholdersFit(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	browser := webtest.Browser(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	seen := map[string]bool{}
	for _, language := range []string{"en-US", "zh-CN"} {
		for _, place := range []string{"/", "/#/room/" + room, "/#/find", "/#/new-room", "/#/room/" + room + "/compose"} {
			v := ann.Again(t, page+place, webtest.Screen{Phone: true, Language: language})
			resize(t, v, 320, 640)
			within := ".sheet"
			if place == "/" || place == "/#/room/"+room {
				within = ".shell"
			}
			awaitAsk(t, v, fmt.Sprintf(`document.querySelector('%s [placeholder]')`, within))
			for placeholder, over := range webtest.Ask[map[string]float64](v.Tab, `(() => {
				const fields = [...document.querySelectorAll('[placeholder]')].filter((e) => e.checkVisibility());
				const pen = document.createElement('canvas').getContext('2d');
				return Object.fromEntries(fields.map((e) => {
					const s = getComputedStyle(e);
					pen.font = getComputedStyle(e, '::placeholder').font;
					return [e.placeholder, pen.measureText(e.placeholder).width + parseFloat(s.paddingLeft) + parseFloat(s.paddingRight) - e.clientWidth];
				}));
			})()`) {
				seen[placeholder] = true
				if over > 0 {
					t.Errorf("%s, %s: %.0f pixels of the placeholder %q are cut", language, place, over, placeholder)
				}
			}
		}
	}
	if len(seen) < 8 {
		t.Errorf("only the placeholders %v were seen", seen)
	}
}
