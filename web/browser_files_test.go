package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"golang.org/x/image/bmp"

	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// drawn returns a PNG with a gradient, so that each picture looks different.
func drawn(t *testing.T, width, height int, tint uint8) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.RGBA{R: uint8(255 * x / width), G: uint8(255 * y / height), B: tint, A: 255})
		}
	}
	var data bytes.Buffer
	noError(t, png.Encode(&data, m))
	return data.Bytes()
}

// timedRecorder is a ResponseRecorder that takes deadlines, as a connection does.
type timedRecorder struct{ *httptest.ResponseRecorder }

func (timedRecorder) SetReadDeadline(time.Time) error  { return nil }
func (timedRecorder) SetWriteDeadline(time.Time) error { return nil }

// upload brings a file to a room. fields are more fields of begin_file.
func (a *httpGuest) upload(room, kind string, content []byte, fields string) (id string) {
	a.t.Helper()
	begun := mustAnswer[wire.FileState](a.t, ask(a.t, a.h, "POST", "/v1/commands/begin_file", a.Token,
		fmt.Sprintf(`{"room":%q,"kind":%q,"size":%d%s}`, room, kind, len(content), fields)), 200)
	r := httptest.NewRequest("POST", fmt.Sprintf("/v1/files/%s/%s?offset=0", room, begun.File.ID), bytes.NewReader(content))
	r.Header.Set("Authorization", "Bearer "+a.Token)
	w := timedRecorder{httptest.NewRecorder()}
	a.h.ServeHTTP(w, r)
	return mustAnswer[wire.FileState](a.t, w.Result(), 200).File.ID
}

// picked is a file that a user chooses on their machine.
type picked struct {
	Name, Type string
	Content    []byte
}

// choose has the visitor choose files: pictures, or files as they are.
func choose(t *testing.T, v *webtest.Visitor, pictures bool, files ...picked) {
	t.Helper()
	if v.Count("button", "Attach pictures or files") > 0 {
		v.Press("button", "Attach pictures or files")
	} else {
		v.Press("button", "添加图片或文件")
	}
	list, err := json.Marshal(files)
	noError(t, err)
	webtest.Ask[int](v.Tab, fmt.Sprintf(`((files, pictures) => {
		const data = new DataTransfer();
		for (const { Name, Type, Content } of files) data.items.add(new File([Uint8Array.from(atob(Content), (c) => c.charCodeAt(0))], Name, { type: Type }));
		const input = [...document.querySelectorAll('.attach-choices input')].find((e) => !!e.accept === pictures && !e.hasAttribute('capture'));
		input.files = data.files;
		input.dispatchEvent(new Event('change', { bubbles: true }));
		return 0;
	})(%s, %v)`, list, pictures))
}

// mustLoad waits until so many pictures of messages are loaded.
func mustLoad(t *testing.T, v *webtest.Visitor, count int) {
	t.Helper()
	awaitAsk(t, v, fmt.Sprintf(`[...document.querySelectorAll('.line img.picture')].filter((e) => e.complete && e.naturalWidth).length === %d`, count))
}

// TestBrowserFilesShown shows pictures, a recording and a document that another user has sent.
func TestBrowserFilesShown(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	one := bob.upload(tea, "picture", drawn(t, 1200, 900, 80), `,"name":"beach.png"`)
	bob.does("send", `"room":%q,"files":[%q],"text":"at the beach, where the sun was so strong that nobody could see anything at all"`, tea, one)
	var album []string
	for n := range 5 {
		album = append(album, bob.upload(tea, "picture", drawn(t, 400+100*n, 600, uint8(50*n)), ""))
	}
	bob.does("send", `"room":%q,"files":["%s"]`, tea, strings.Join(album, `","`))
	bob.does("send", `"room":%q,"files":[%q]`, tea, bob.upload(tea, "file", []byte("the minutes"), `,"name":"minutes of the meeting.pdf","type":"application/pdf"`))
	ann.Sees("[minutes of the meeting.pdf]")
	ann.Press("link", "Tea")
	mustLoad(t, ann, 6)
	ann.Has("button", "Open picture 5 of 5")
	ann.Has("button", "Download minutes of the meeting.pdf")
	ann.Screenshot("shown")
	webtest.Ask[int](ann.Tab, `HTMLAnchorElement.prototype.click = function () { window.stored = [this.download, this.href]; }, 0`)
	ann.Press("button", "Download minutes of the meeting.pdf")
	awaitAsk(t, ann, `window.stored`)
	if got := webtest.Ask[string](ann.Tab, `(async ([name, url]) => { const r = await fetch(url); return [name, r.headers.get('Content-Disposition'), await r.text()].join('|'); })(window.stored)`); got !=
		`minutes of the meeting.pdf|attachment; filename="minutes of the meeting.pdf"|the minutes` {
		t.Errorf("the download is %s", got)
	}
	ann.Press("button", "Open picture 2 of 5")
	ann.Has("dialog", "Picture")
	ann.Sees("3 of 6")
	awaitAsk(t, ann, `document.querySelector('.viewer img')?.complete`)
	ann.WaitForAnimations()
	ann.Screenshot("viewer")
	ann.Key(kb.ArrowRight)
	ann.Sees("4 of 6")
	ann.Press("button", "The picture before")
	ann.Sees("3 of 6")
	ann.Back()
	ann.Lacks("dialog", "Picture")
	awaitAsk(t, ann, `document.activeElement.matches('.album-picture')`)
	ann.SetScreen(webtest.Screen{Phone: true, Dark: true})
	ann.Screenshot("phone")
	ann.Press("button", "Tea")
	ann.Press("button", "Pictures and files")
	awaitAsk(t, ann, `document.querySelectorAll('.media-grid img').length === 6`)
	ann.Sees("That is all there is in this room.")
	ann.WaitForAnimations()
	ann.Screenshot("media")
	ann.Press("button", "Files")
	ann.Has("button", "Download minutes of the meeting.pdf")
}

// TestBrowserMediaOfALongRoom looks at the pictures of a room with much said since. Their grid must not read these messages, and have what comes and goes meanwhile. The
// viewer turns among the pictures of the grid.
func TestBrowserMediaOfALongRoom(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	picture := func(tint uint8, text string) int64 {
		return bob.does("send", `"room":%q,"files":[%q],"text":%q`, tea, bob.upload(tea, "picture", drawn(t, 300, 200, tint), ""), text).Seq
	}
	for n := range uint8(60) {
		picture(4*n, fmt.Sprintf("old %d", n))
	}
	for n := range 60 {
		bob.does("send", `"room":%q,"text":"line %d"`, tea, n)
	}
	ann.Press("link", "Tea")
	ann.Sees("line 59")
	ann.Press("button", "Tea")
	ann.Press("button", "Pictures and files")
	grid := func(count int) {
		t.Helper()
		awaitAsk(t, ann, fmt.Sprintf(`document.querySelectorAll('.media-grid li').length === %d`, count))
	}
	awaitAsk(t, ann, `document.querySelectorAll('.media-grid li').length >= 50`)
	awaitAsk(t, ann, `(document.querySelector('.panel .sheet-body').scrollTop = 1e6, document.querySelectorAll('.media-grid li').length === 60)`)
	ann.Sees("That is all there is in this room.")
	ann.WaitForAnimations()
	ann.Screenshot("grid")
	late := picture(0, "late")
	grid(61)
	bob.does("edit", `"room":%q,"seq":%d,"text":"later"`, tea, late)
	webtest.Ask[int](ann.Tab, `document.querySelector('.media-grid button').click(), 0`)
	ann.Sees("61 of 61")
	ann.Sees("later")
	ann.Key(kb.ArrowLeft)
	ann.Sees("60 of 61")
	ann.Sees("old 59")
	ann.Back()
	grid(61)
	bob.does("recall", `"room":%q,"seq":%d`, tea, late)
	grid(60)
	ann.Misses("old 59") // the timeline still begins after the old pictures
	ann.Press("button", "Voice")
	ann.Sees("Nothing of this kind was sent here yet.")
}

// brokenLinks makes the links of pictures wrong while window.broken is set.
const brokenLinks = `(() => {
	window.broken = true;
	const src = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, 'src');
	Object.defineProperty(HTMLImageElement.prototype, 'src', { ...src, set(address) {
		window.tried = (window.tried ?? 0) + (address.includes('/v1/files/') ? 1 : 0);
		src.set.call(this, window.broken ? address.replace('mac=', 'mac=x') : address);
	} });
})()`

// TestBrowserPictureFails shows a picture whose link does not work. The page must try another link once, and then leave it to the user.
func TestBrowserPictureFails(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	ann.Expect("403")
	ann.InjectScript(brokenLinks)
	ann.Reload()
	tea, _ := twoRooms(t, bob, ann)
	bob.does("send", `"room":%q,"files":[%q]`, tea, bob.upload(tea, "picture", drawn(t, 600, 400, 80), ""))
	ann.Press("link", "Tea")
	ann.Has("button", "This picture can’t be loaded. Try again")
	if n := webtest.Ask[int](ann.Tab, `window.tried`); n != 2 {
		t.Errorf("the page has tried %d links, want 2", n)
	}
	ann.Screenshot("failed")
	webtest.Ask[int](ann.Tab, `(window.broken = false, 0)`)
	ann.Press("button", "This picture can’t be loaded. Try again")
	mustLoad(t, ann, 1)
	ann.Has("button", "Open the picture")
}

// TestBrowserViewerOnAPhone swipes from picture to picture, makes one larger and moves it, and swipes down. A picture that is recalled is gone.
func TestBrowserViewerOnAPhone(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true, Calm: true})
	tea, _ := twoRooms(t, bob, ann)
	var seqs []int64
	for n := range 3 {
		file := bob.upload(tea, "picture", drawn(t, 800, 600+200*n, uint8(100*n)), "")
		seqs = append(seqs, bob.does("send", `"room":%q,"files":[%q],"text":"number %d"`, tea, file, n+1).Seq)
	}
	ann.Press("link", "Tea")
	mustLoad(t, ann, 3)
	webtest.Ask[int](ann.Tab, `[...document.querySelectorAll('.album-picture')].at(-1).click(), 0`)
	ann.Sees("3 of 3")
	ann.Swipe(60, 370, 300, 370)
	ann.Sees("2 of 3")
	ann.Swipe(300, 370, 60, 370)
	ann.Sees("3 of 3")
	ann.Swipe(300, 370, 60, 370) // there is no other one
	ann.Sees("3 of 3")
	ann.Key("+")
	awaitAsk(t, ann, `document.querySelector('.viewer-stage.zoomed')`)
	ann.Screenshot("zoomed")
	ann.Swipe(60, 370, 300, 370) // it moves the picture
	ann.Sees("3 of 3")
	ann.Key("0")
	awaitAsk(t, ann, `!document.querySelector('.viewer-stage.zoomed')`)
	bob.does("recall", `"room":%q,"seq":%d`, tea, seqs[2])
	ann.Sees("This picture isn’t here any more.")
	ann.Press("button", "Close")
	mustLoad(t, ann, 2)
	webtest.Ask[int](ann.Tab, `document.querySelector('.album-picture').click(), 0`)
	ann.Sees("1 of 2")
	ann.Swipe(180, 300, 180, 600)
	ann.Lacks("dialog", "Picture")
}

// deskAndPhone opens a room for Ann on a desk and for Mei on a phone in Chinese, whose connection is a line that the test can cut. Bob has made the room.
func deskAndPhone(t *testing.T, phone webtest.Screen) (bob *httpGuest, ann, mei *webtest.Visitor, line *loopback.Proxy, room string) {
	t.Helper()
	s := newTestServer(t, withGuests)
	addr := s.listen(t)
	line, err := loopback.StartProxy(addr)
	noError(t, err)
	t.Cleanup(line.Close)
	browser := webtest.Browser(t)
	ann = visitAsGuest(t, browser, "http://"+addr, "Ann", webtest.Screen{})
	mei = browser.Visit(t, "http://"+line.Addr(), phone)
	expectOffline(mei)
	mei.Expect("ERR_")
	mei.Fill("怎么称呼你？", "Mei")
	mei.Key("\r")
	mei.Has("button", "Mei")
	bob = s.httpGuest(t, "Bob")
	room = bob.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q]`, userID(ann), userID(mei)).Room.ID
	ann.Press("link", "Tea")
	mei.Press("link", "Tea")
	mei.Has("textbox", "消息")
	return bob, ann, mei, line, room
}

// kept evaluates to how many files of unsent messages the browser keeps, which is known a moment later.
const kept = `(indexedDB.databases().then(async (all) => {
	if (!all.some(({ name }) => name === 'hongbao-pending')) return;
	const db = await new Promise((resolve) => { indexedDB.open('hongbao-pending', 1).onsuccess = (e) => resolve(e.target.result); });
	db.transaction('pending').objectStore('pending').getAll().onsuccess = (e) => { window.keptFiles = e.target.result.flatMap(({ files }) => files).length; };
	db.close();
}), window.keptFiles)`

// TestBrowserFilesSent sends pictures from a phone in Chinese to a desk in English, through a line that carries nothing before the page is loaded again. They must arrive
// once, in the order of the tray and with their caption, and be gone after a recall.
func TestBrowserFilesSent(t *testing.T) {
	enginetest.Nightly(t, "page")
	bob, ann, mei, line, tea := deskAndPhone(t, webtest.Screen{Phone: true, Language: "zh-CN"})
	choose(t, mei, true, picked{"one.png", "image/png", drawn(t, 900, 600, 10)}, picked{"two.png", "image/png", drawn(t, 300, 900, 120)}, picked{"three.png", "image/png", drawn(t, 640, 480, 240)})
	awaitAsk(t, mei, `document.querySelectorAll('.tray-file img').length === 3`)
	mei.Press("button", "three.png，第3个，共3个")
	mei.Press("button", "往前移")
	mei.Press("button", "往前移")
	mei.Has("button", "three.png，第1个，共3个")
	mei.Fill("消息", "三张照片")
	mei.WaitForAnimations()
	mei.Screenshot("tray")
	line.Swallow(true)
	mei.Press("button", "发送")
	mei.Has("progressbar", "正在上传")
	mei.Screenshot("uploading")
	awaitAsk(t, mei, kept+` === 3`)
	mei.Do(chromedp.Navigate("about:blank"))
	line.Swallow(false)
	line.Cut()
	mei.Do(chromedp.Navigate("http://" + line.Addr() + "/#/room/" + tea)) // the next page sends what the last one has kept
	ann.Sees("三张照片")
	mustLoad(t, ann, 3)
	mustLoad(t, mei, 3)
	mei.Lacks("progressbar", "正在上传")
	awaitAsk(t, mei, kept+` === 0`)
	sizes := webtest.Ask[[]int](ann.Tab, `[...document.querySelectorAll('.line img.picture')].map((e) => Math.round(100 * e.naturalWidth / e.naturalHeight))`)
	if want := []int{133, 150, 33}; !slices.Equal(sizes, want) {
		t.Errorf("the pictures have the ratios %v, want %v", sizes, want)
	}
	if n := ann.Count("button", "Open picture"); n != 3 {
		t.Errorf("%d pictures can be opened, want 3", n)
	}
	ann.Screenshot("received")
	entries := bob.history(tea)
	seq := entries[len(entries)-1].seq
	webtest.Ask[int](mei.Tab, fmt.Sprintf(`(location.hash += '/message/%d', 0)`, seq))
	mei.Press("button", "撤回")
	mei.Press("button", "撤回")
	ann.Sees("This message was taken back")
	mustLoad(t, ann, 0)
}

// noisy returns a PNG that compression hardly makes smaller.
func noisy(t *testing.T, width, height int) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	random := rand.New(rand.NewPCG(uint64(width), uint64(height)))
	for i := range m.Pix {
		m.Pix[i] = uint8(random.Uint32()) | uint8(255*(i%4/3)) // opaque
	}
	var data bytes.Buffer
	noError(t, png.Encode(&data, m))
	return data.Bytes()
}

// TestBrowserFilesThroughACut sends three pictures from a phone in Chinese over a line that is lost in the middle of the first one. What is written meanwhile waits, too. When the line is back,
// all must arrive once and in order, without a reload.
func TestBrowserFilesThroughACut(t *testing.T) {
	enginetest.Nightly(t, "page")
	_, ann, mei, line, _ := deskAndPhone(t, webtest.Screen{Phone: true, Dark: true, Language: "zh-CN"})
	choose(t, mei, true, picked{"1.png", "image/png", noisy(t, 1200, 800)}, picked{"2.png", "image/png", noisy(t, 300, 600)}, picked{"3.png", "image/png", noisy(t, 500, 500)})
	awaitAsk(t, mei, `document.querySelectorAll('.tray-file img').length === 3`)
	mei.Fill("消息", "路上拍的")
	line.SwallowAfter(200_000) // of the first picture, which takes several requests
	mei.Press("button", "发送")
	awaitAsk(t, mei, `(({ value } = {}) => value > 0.15)(document.querySelector('.uploading progress') ?? undefined)`)
	line.Cut()
	if at := webtest.Ask[float64](mei.Tab, `document.querySelector('.uploading progress')?.value ?? 1`); at >= 1 {
		t.Fatalf("the upload is at %v already", at)
	}
	mei.Sees("正在重新连接")
	mei.Has("progressbar", "正在上传")
	mei.Sees("等待网络…")
	mei.Fill("消息", "等会儿再说")
	mei.Press("button", "发送")
	awaitAsk(t, mei, `document.querySelectorAll('.line.unsent').length === 2`)
	mei.WaitForAnimations()
	mei.Screenshot("lost")
	ann.Misses("路上拍的")
	line.Swallow(false)
	line.Cut()
	ann.Sees("路上拍的")
	ann.Sees("等会儿再说")
	mustLoad(t, ann, 3)
	mustLoad(t, mei, 3)
	awaitAsk(t, mei, `!document.querySelector('.line.unsent')`)
	sizes := webtest.Ask[[]int](ann.Tab, `[...document.querySelectorAll('.line img.picture')].map((e) => Math.round(100 * e.naturalWidth / e.naturalHeight))`)
	if want := []int{150, 50, 100}; !slices.Equal(sizes, want) {
		t.Errorf("the pictures have the ratios %v, want %v", sizes, want)
	}
	if n := ann.Count("button", "Open picture"); n != 3 {
		t.Errorf("%d pictures can be opened, want 3", n)
	}
	mei.Screenshot("back")
}

// longEnough evaluates to whether a recording runs that is not too short to be sent.
const longEnough = `/^0:0[2-9]|^0:[1-5]/.test(document.querySelector('.recorder [role=timer]')?.innerText)`

// TestBrowserVoice records a message on a desk, hears it and sends it, and then holds the button on a phone. The other user plays both.
func TestBrowserVoice(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	twoRooms(t, bob, ann)
	ann.Press("link", "Tea")
	ann.Press("button", "Record a message")
	ann.Has("timer", "")
	awaitAsk(t, ann, longEnough)
	ann.Screenshot("recording")
	ann.Press("button", "Stop and listen")
	ann.Press("button", "Play")
	ann.Has("button", "Pause")
	ann.Press("button", "Discard the recording")
	ann.Lacks("button", "Discard the recording")

	ann.Press("button", "Record a message")
	awaitAsk(t, ann, longEnough)
	ann.Press("button", "Stop and listen")
	ann.Screenshot("preview")
	ann.Press("button", "Send")
	ann.Has("group", "Recording, 0:0")
	ann.Lacks("progressbar", "Uploading")
	ann.Lacks("image", "Being sent")
	awaitAsk(t, ann, `document.querySelectorAll('.line .voice').length === 1`)
	ann.Press("button", "Play")
	ann.Screenshot("playing")
	ann.Press("button", "Speed 1")
	ann.Has("button", "Speed 1.5")
	awaitAsk(t, ann, `document.querySelector('.line .voice .played')`)

	mei := ann.Again(t, page, webtest.Screen{Phone: true, Dark: true, Language: "zh-CN"})
	mei.Press("link", "Tea")
	mei.Has("group", "语音，0:0")
	mei.Hold("button", "录一段语音", func(func(dx, dy float64)) {
		awaitAsk(t, mei, longEnough)
		mei.Screenshot("held")
	})
	awaitAsk(t, mei, `document.querySelectorAll('.line:not(.unsent) .voice').length === 2`)
	awaitAsk(t, ann, `document.querySelectorAll('.line .voice').length === 2`)
	mei.Has("textbox", "消息") // the end of the touch is no click
	mei.Screenshot("voices")

	webtest.Ask[int](ann.Tab, `navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', 'NotAllowedError'); }, 0`)
	ann.Press("button", "Record a message")
	ann.Sees("This page may not use the microphone. Allow it in the browser’s settings")
	ann.Has("textbox", "Message")
}

// TestBrowserVoiceThroughACut records on a phone in Chinese while the line is lost. The recording must wait, go through the line when it is back, once and without a reload, and
// play on a desk in English.
func TestBrowserVoiceThroughACut(t *testing.T) {
	enginetest.Nightly(t, "page")
	_, ann, mei, line, _ := deskAndPhone(t, webtest.Screen{Phone: true, Dark: true, Language: "zh-CN"})
	mei.Press("button", "录一段语音")
	awaitAsk(t, mei, longEnough)
	line.Swallow(true)
	line.Cut()
	mei.Sees("正在重新连接")
	mei.Press("button", "停止并试听")
	mei.Press("button", "发送")
	mei.Sees("等待网络…")
	awaitAsk(t, mei, kept+` === 1`)
	mei.WaitForAnimations()
	mei.Screenshot("lost")
	ann.Lacks("group", "Recording, 0:0")
	line.Swallow(false)
	line.Cut()
	ann.Has("group", "Recording, 0:0")
	awaitAsk(t, mei, `document.querySelectorAll('.line .voice').length === 1 && !document.querySelector('.line.unsent')`)
	awaitAsk(t, mei, kept+` === 0`)
	ann.Press("button", "Play")
	awaitAsk(t, ann, `document.querySelector('.line .voice .played')`)
	awaitAsk(t, ann, `document.querySelectorAll('.line .voice').length === 1`)
	mei.Screenshot("back")
}

// bitmap returns a picture that browsers read, but not the server.
func bitmap(t *testing.T) []byte {
	t.Helper()
	var data bytes.Buffer
	noError(t, bmp.Encode(&data, image.NewGray(image.Rect(0, 0, 40, 30))))
	return data.Bytes()
}

// TestBrowserFilesChosen pastes, drops and chooses files: too many, too large ones, one that the server refuses, and one whose upload is cancelled.
func TestBrowserFilesChosen(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	addr := s.listen(t)
	line, err := loopback.StartProxy(addr)
	noError(t, err)
	t.Cleanup(line.Close)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+line.Addr(), "Ann", webtest.Screen{})
	expectOffline(ann)
	ann.Expect("ERR_")
	twoRooms(t, bob, ann)
	ann.Press("link", "Tea")
	ann.Has("textbox", "Message")
	give := func(at, event, files string) {
		t.Helper()
		webtest.Ask[int](ann.Tab, fmt.Sprintf(`(async (at, kind) => {
			const data = new DataTransfer();
			for (const file of %s) data.items.add(file);
			const how = { bubbles: true, cancelable: true };
			document.querySelector(at).dispatchEvent(kind === 'paste' ? new ClipboardEvent(kind, { ...how, clipboardData: data }) : new DragEvent(kind, { ...how, dataTransfer: data }));
			return 0;
		})(%q, %q)`, files, at, event))
	}
	drawn := `[await new Promise((r) => Object.assign(document.createElement('canvas'), { width: 30, height: 20 }).toBlob((b) => r(new File([b], 'pasted.png', { type: 'image/png' }))))]`
	give(".composer textarea", "paste", drawn)
	ann.Has("button", "pasted.png, 1 of 1")
	give(".timeline-box", "dragenter", drawn)
	ann.Screenshot("dropping")
	awaitAsk(t, ann, `document.querySelector('.room.dropping')`)
	give(".timeline-box", "drop", `[new File(['a note'], 'note.txt', { type: 'text/plain' }), new File([], 'nothing.txt')]`)
	ann.Sees("nothing.txt is empty.")
	ann.Has("button", "note.txt, 2 of 2")
	awaitAsk(t, ann, `!document.querySelector('.room.dropping')`)
	give(".timeline-box", "drop", `[new File([new Uint8Array(27e6)], 'huge.bin')]`)
	ann.Sees("huge.bin is too large: 26 MB at most.")
	give(".timeline-box", "drop", `Array.from({ length: 9 }, (_, n) => new File(['x'], n + '.txt'))`)
	ann.Sees("A message takes 10 files.")
	ann.Has("button", "7.txt, 10 of 10")
	for n := range 9 {
		ann.Press("button", fmt.Sprintf("Remove %s", []string{"note", "0", "1", "2", "3", "4", "5", "6", "7"}[n]+".txt"))
	}
	ann.Press("button", "Send")
	mustLoad(t, ann, 1)
	ann.Lacks("image", "Being sent")

	choose(t, ann, true, picked{"scan.png", "image/png", bitmap(t)})
	ann.Has("button", "scan.png, 1 of 1")
	ann.Expect("400") // the browser tells the refusal
	ann.Press("button", "Send")
	ann.Sees("The server can’t read this picture or recording.")
	ann.Screenshot("refused")
	ann.Press("button", "Discard")
	ann.Misses("The server can’t read")

	line.Swallow(true)
	choose(t, ann, false, picked{"slow.bin", "", []byte("slow")})
	ann.Has("button", "slow.bin, 1 of 1")
	ann.Press("button", "Send")
	ann.Has("progressbar", "Uploading")
	ann.Press("button", "Cancel")
	ann.Lacks("progressbar", "Uploading")
	ann.Misses("slow.bin")
	line.Swallow(false)
	line.Cut()
}

// TestBrowserCamera takes a picture: a phone must offer its camera beside its pictures, and a desk must not.
func TestBrowserCamera(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	twoRooms(t, bob, ann)
	mei := ann.Again(t, page, webtest.Screen{Phone: true, Language: "zh-CN"})
	ann.Press("link", "Tea")
	ann.Press("button", "Attach pictures or files")
	ann.Sees("Files, as they are")
	ann.Misses("Take a picture")
	mei.Press("link", "Tea")
	mei.Press("button", "添加图片或文件")
	mei.Sees("拍照")
	mei.WaitForAnimations()
	mei.Screenshot("choices")
	awaitAsk(t, mei, `(([camera, ...others]) => others.length === 0 && camera?.getAttribute('capture') === 'environment' && camera.accept.startsWith('image/jpeg') && !camera.multiple)(
		[...document.querySelectorAll('.attach-choices input')].filter((e) => e.hasAttribute('capture')))`)
	photo, err := json.Marshal(drawn(t, 60, 80, 10))
	noError(t, err)
	webtest.Ask[int](mei.Tab, fmt.Sprintf(`((content) => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], 'image.png', { type: 'image/png' }));
		const input = document.querySelector('.attach-choices input[capture]');
		input.files = data.files;
		input.dispatchEvent(new Event('change', { bubbles: true }));
		return 0;
	})(%s)`, photo))
	mei.Has("button", "image.png，第1个，共1个")
	mei.Press("button", "发送")
	mustLoad(t, ann, 1)
}

// heic is the beginning of a photo as iPhones make them.
const heic = "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"

// readsAll makes the browser take any file of a picture as one that it can read, as Safari does with HEIC.
const readsAll = `window.Image = class { naturalWidth = 40; naturalHeight = 30; set src(_) { setTimeout(() => this.onload()); } }`

// TestBrowserHEIC chooses a photo that neither the browser nor the server reads: it goes as a file, and the page says so. If it gets to the server as a
// picture, the refusal is in words, in both languages, and other files are not lost.
func TestBrowserHEIC(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	twoRooms(t, bob, ann)
	ann.Press("link", "Tea")
	ann.Has("textbox", "Message")
	choose(t, ann, true, picked{"IMG_1.HEIC", "", []byte(heic)})
	ann.Sees("This browser can’t read IMG_1.HEIC: it goes as a file, not as a picture.")
	ann.Screenshot("as a file")
	ann.Press("button", "Send")
	ann.Has("button", "Download IMG_1.HEIC")
	ann.Lacks("progressbar", "Uploading")
	ann.Lacks("image", "Being sent")
	for _, how := range []struct {
		screen                     webtest.Screen
		message, send, says, write string
	}{
		{webtest.Screen{}, "Message", "Send", "HEIC pictures aren’t supported. Send this one as JPEG.", "with a photo"},
		{webtest.Screen{Phone: true, Dark: true, Language: "zh-CN"}, "消息", "发送", "暂不支持 HEIC 图片，请转成 JPEG 再发。", "一张照片"},
	} {
		v := ann.Again(t, page+"/#/", how.screen)
		v.Expect("400") // the browser tells the refusal
		v.Press("link", "Tea")
		v.Has("textbox", how.message)
		webtest.Ask[int](v.Tab, readsAll+`, 0`)
		choose(t, v, true, picked{"photo.jpg", "image/jpeg", []byte(heic)}, picked{"fine.png", "image/png", drawn(t, 60, 40, 10)})
		awaitAsk(t, v, `document.querySelectorAll('.tray-file').length === 2`)
		v.Fill(how.message, how.write)
		v.Press("button", how.send)
		awaitAsk(t, v, fmt.Sprintf(`document.querySelector('.unsent [role=alert]')?.innerText === %q`, how.says))
		v.Screenshot("refused " + how.message)
		ann.Misses(how.write) // nothing is half sent
	}
}

// TestBrowserMarkup sends a text with markup. Both sides must show it, and an edit must begin with the text as it was written.
func TestBrowserMarkup(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	ann.Press("link", "Tea")
	ann.Fill("Message", "**Dinner** at *eight*, <b>sharp</b>")
	ann.Press("button", "Send")
	awaitAsk(t, ann, `document.querySelector('.line:not(.unsent) .text strong')?.innerText === 'Dinner'`)
	text := "> who brings what?\n- `tea`: **Ann**\n- cake, see [the list](https://cake.example/list)\n```\n2 eggs\n  1 cup\n```\nthat is all"
	bob.does("send", `"room":%q,"text":%s`, tea, encoded(t, text))
	ann.Sees("2 eggs")
	ann.Sees("the list (cake.example)")
	awaitAsk(t, ann, `document.querySelectorAll('.text li').length === 2 && document.querySelector('.text pre')?.innerText === '2 eggs\n  1 cup' && !document.querySelector('.text b')`)
	ann.Press("button", "Attach pictures or files")
	ann.Screenshot("markup")
	ann.Key("\x1b")
	ann.Press("textbox", "Message")
	ann.Key(kb.ArrowUp)
	awaitAsk(t, ann, `document.querySelector('.composer textarea').value === '**Dinner** at *eight*, <b>sharp</b>'`)
}
