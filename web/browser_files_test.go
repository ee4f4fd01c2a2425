package web

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http/httptest"
	"testing"
	"time"

	"hongbao/store/enginetest"
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
	var album string
	for n := range 5 {
		album += fmt.Sprintf(`,%q`, bob.upload(tea, "picture", drawn(t, 400+100*n, 600, uint8(50*n)), ""))
	}
	bob.does("send", `"room":%q,"files":[%s]`, tea, album[1:])
	bob.does("send", `"room":%q,"files":[%q]`, tea, bob.upload(tea, "file", []byte("the minutes"), `,"name":"minutes of the meeting.pdf","type":"application/pdf"`))
	ann.Sees("[minutes of the meeting.pdf]")
	ann.Press("link", "Tea")
	mustLoad(t, ann, 6)
	ann.Has("button", "Open picture 5 of 5")
	ann.Has("button", "Download minutes of the meeting.pdf")
	ann.Screenshot("shown")
}
