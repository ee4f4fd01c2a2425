package web

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// spot evaluates to the part of the viewer's picture that is at a point, from 0 to 1 across and down, and to how large the picture is drawn.
func spot(v *webtest.Visitor, x, y float64) (across, down, size float64) {
	got := webtest.Ask[[3]float64](v.Tab, fmt.Sprintf(`((x, y) => {
		const picture = document.querySelector('.viewer-picture');
		const { left, top, width, height } = picture.getBoundingClientRect();
		return [(x - left) / width, (y - top) / height, width / picture.offsetWidth];
	})(%v, %v)`, x, y))
	return got[0], got[1], got[2]
}

// mustStay checks that the same part of the picture is at a point as before, and that the picture is this large.
func mustStay(t *testing.T, v *webtest.Visitor, x, y, wasAcross, wasDown, size float64) {
	t.Helper()
	awaitAsk(t, v, fmt.Sprintf(`(() => {
		const picture = document.querySelector('.viewer-picture');
		return Math.abs(picture.getBoundingClientRect().width / picture.offsetWidth - %v) < 0.1;
	})()`, size))
	if across, down, now := spot(v, x, y); across < wasAcross-0.03 || across > wasAcross+0.03 || down < wasDown-0.03 || down > wasDown+0.03 {
		t.Errorf("at %v, %v is the spot %.3f, %.3f of the picture of size %.2f, want %.3f, %.3f", x, y, across, down, now, wasAcross, wasDown)
	}
}

// threePictures sends pictures into a room of Bob, and returns a visitor that looks at the last one.
func threePictures(t *testing.T, screen webtest.Screen, room, place string) *webtest.Visitor {
	t.Helper()
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	for n := range 3 {
		bob.does("send", `"room":%q,"files":[%q]`, tea, bob.upload(tea, "picture", drawn(t, 800, 600, uint8(100*n)), ""))
	}
	v := ann.Again(t, page, screen)
	v.Press("link", room)
	mustLoad(t, v, 3)
	webtest.Ask[int](v.Tab, `[...document.querySelectorAll('.album-picture')].at(-1).click(), 0`)
	v.Sees(place)
	awaitAsk(t, v, `document.querySelector('.viewer img')?.naturalWidth > 0`)
	v.WaitForAnimations()
	return v
}

// TestBrowserViewerWheel makes a picture larger by the wheel, where the mouse is, and moves it with the mouse.
func TestBrowserViewerWheel(t *testing.T) {
	enginetest.Nightly(t, "page")
	v := threePictures(t, webtest.Screen{Calm: true}, "Tea", "3 of 3")
	const x, y = 500, 330
	across, down, size := spot(v, x, y)
	if size != 1 {
		t.Fatalf("the picture has the size %v", size)
	}
	v.Wheel(x, y, -400) // e
	mustStay(t, v, x, y, across, down, 2.718)
	v.Screenshot("wheel")
	v.Drag(x, y, x+120, y+60)
	mustStay(t, v, x+120, y+60, across, down, 2.718)
	v.Sees("3 of 3")
	v.Wheel(x, y, 4000)
	awaitAsk(t, v, `!document.querySelector('.viewer-stage.zoomed')`)
	v.Wheel(x, y, -4000)
	awaitAsk(t, v, `Math.round(document.querySelector('.viewer-picture').getBoundingClientRect().width / document.querySelector('.viewer-picture').offsetWidth) === 6`) // not more
	v.Press("button", "The picture before")
	v.Sees("2 of 3")
	awaitAsk(t, v, `!document.querySelector('.viewer-stage.zoomed')`) // each begins as a whole
}

// TestBrowserViewerPinch makes a picture larger with two fingers, in Chinese. One finger moves it then, and turns to another one only when it is whole again.
func TestBrowserViewerPinch(t *testing.T) {
	enginetest.Nightly(t, "page")
	v := threePictures(t, webtest.Screen{Phone: true, Dark: true, Language: "zh-CN"}, "Tea", "第3张，共3张")
	const x, y = 180, 370
	across, down, _ := spot(v, x, y)
	v.Pinch(x, y, 30, 120)
	mustStay(t, v, x, y, across, down, 4)
	v.Sees("第3张，共3张")
	v.Screenshot("pinched")
	v.Swipe(x, y, x+100, y)
	mustStay(t, v, x+100, y, across, down, 4)
	v.Sees("第3张，共3张")
	v.Pinch(x, y, 120, 20)
	awaitAsk(t, v, `!document.querySelector('.viewer-stage.zoomed')`)
	v.Sees("第3张，共3张")
	v.Swipe(60, y, 300, y)
	v.Sees("第2张，共3张")
	v.Swipe(180, 300, 180, 600)
	v.Lacks("dialog", "图片")
}

// TestBrowserVoiceGestures holds the button of the recorder on a phone: a slide to the left discards the recording, and one up lets it go on without the finger.
func TestBrowserVoiceGestures(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	mei := ann.Again(t, page, webtest.Screen{Phone: true, Language: "zh-CN"})
	ann.Press("link", "Tea")
	mei.Press("link", "Tea")
	mei.Has("textbox", "消息")
	mei.Hold("button", "录一段语音", func(slide func(dx, dy float64)) {
		awaitAsk(t, mei, longEnough)
		slide(-45, 0)
		awaitAsk(t, mei, `Math.abs(document.querySelector('.recorder-how').style.opacity - 0.5) < 0.1`)
		mei.Screenshot("sliding")
		slide(-5, 0)
		awaitAsk(t, mei, `document.querySelector('.recorder-how').style.opacity > 0.9`) // the finger is back
		slide(-120, 0)
		mei.Has("textbox", "消息")
		slide(-10, 0)
	})
	mei.Has("button", "录一段语音")
	mei.Has("textbox", "消息") // the end of the touch is no click
	mei.Hold("button", "录一段语音", func(slide func(dx, dy float64)) {
		awaitAsk(t, mei, longEnough)
		slide(0, -40)
		mei.Lacks("button", "丢弃录音")
		slide(0, -80)
		mei.Has("button", "丢弃录音")
	})
	mei.WaitForAnimations()
	mei.Screenshot("locked")
	awaitAsk(t, mei, `/^0:0[4-9]|^0:[1-5]/.test(document.querySelector('.recorder [role=timer]')?.innerText)`) // it goes on without the finger
	mei.Press("button", "停止并试听")
	mei.Has("group", "语音，0:0")
	mei.Screenshot("preview")
	mei.Press("button", "发送")
	awaitAsk(t, ann, `document.querySelectorAll('.line .voice').length === 1`)
	bob.does("send", `"room":%q,"text":"heard you"`, tea)
	ann.Sees("heard you")
	awaitAsk(t, ann, `document.querySelectorAll('.line .voice').length === 1`) // the first one was not sent
}

// TestBrowserTrayOrder drags a file in the tray, and moves one by keys. The message must have the new order.
func TestBrowserTrayOrder(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	twoRooms(t, bob, ann)
	ann.Press("link", "Tea")
	ann.Has("textbox", "Message")
	choose(t, ann, true, picked{"wide.png", "image/png", drawn(t, 900, 600, 10)}, picked{"high.png", "image/png", drawn(t, 300, 900, 120)}, picked{"square.png", "image/png", drawn(t, 500, 500, 240)})
	ann.Has("button", "square.png, 3 of 3")
	places := webtest.Ask[[][2]float64](ann.Tab, `[...document.querySelectorAll('.tray-file')].map((e) => { const { x, y, width, height } = e.getBoundingClientRect(); return [x + width / 2, y + height / 2]; })`)
	ann.Drag(places[0][0], places[0][1], places[2][0], places[2][1])
	ann.Has("button", "wide.png, 3 of 3")
	ann.Has("button", "high.png, 1 of 3")
	awaitAsk(t, ann, `!document.querySelector('.room.dropping')`) // a file of the tray is not one that is dropped
	webtest.Ask[int](ann.Tab, `document.querySelectorAll('.tray-file')[2].focus(), 0`)
	ann.Key(kb.ArrowLeft)
	ann.Has("button", "wide.png, 2 of 3")
	ann.WaitForAnimations()
	ann.Screenshot("tray")
	ann.Press("button", "Send")
	mustLoad(t, ann, 3)
	ann.Lacks("image", "Being sent")
	awaitAsk(t, ann, `[...document.querySelectorAll('.line:not(.unsent) img.picture')].map((e) => Math.round(100 * e.naturalWidth / e.naturalHeight)).join() === '33,150,100'`)
}
