package web

import (
	"fmt"
	"testing"
	"time"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
)

// TestBrowserOpensLater shows a packet that opens in some seconds: the envelope counts down, cannot be opened, and opens without a reload.
func TestBrowserOpensLater(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	browser, page := webtest.Browser(t), "http://"+s.listen(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{Phone: true})
	mei := enterInChinese(t, browser, page, "Mei", webtest.Screen{})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q]`, userID(ann), userID(mei)).Room.ID
	for _, v := range []*webtest.Visitor{ann, mei} {
		v.Press("link", "Tea")
		v.Has("textbox", "")
	}
	bob.packet(room, 500, 1, fmt.Sprintf(`,"greeting":"for tea","opens_at":%d`, time.Now().Add(20*time.Second).UnixMilli()))
	ann.Sees("Opens in")
	mei.Sees("后开抢")
	ann.Press("button", "for tea")
	ann.Has("button", "Not open yet")
	mustBeAccessible(t, ann, "a packet that opens later")
	ann.Press("button", "Open") // when it has opened
	ann.Sees("¥5.00")
	bob.packet(room, 500, 1, fmt.Sprintf(`,"greeting":"for cake","opens_at":%d`, time.Now().Add(2*time.Hour).UnixMilli()))
	mei.Sees("开抢")
}

// TestBrowserSharesWait shows a packet whose only share waits for another user.
func TestBrowserSharesWait(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob, cyn := s.httpGuest(t, "Bob"), s.httpGuest(t, "Cyn")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	cyn.does("join", `"room":%q`, room)
	ann.Press("link", "Tea")
	ann.Has("textbox", "Message")
	packet := bob.packet(room, 200, 1, `,"greeting":"for tea","hold_away":true,"hold_s":20`).ID
	ann.Sees("1 share waits for a member who is away, until")
	ann.Press("button", "for tea")
	ann.Press("button", "Open")
	ann.Sees("The last share waits for a member who is away. Try again later.")
	mustBeAccessible(t, ann, "a share that waits")
	cyn.grab(packet)
	ann.Press("button", "Open")
	ann.Sees("So close!")
}

// TestBrowserComposesLater fills in when a packet opens, and for whom shares wait.
func TestBrowserComposesLater(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob, cyn := s.httpGuest(t, "Bob"), s.httpGuest(t, "Cyn")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	cyn.does("join", `"room":%q`, room)
	ann.Press("link", "Tea")
	ann.Press("button", "Send a red packet")
	ann.Fill("Total", "5")
	ann.Press("DisclosureTriangle", "More")
	ann.Sees("Opens at", "Keep shares for")
	ann.Press("radio", "members who are away")
	ann.Sees("Others can have them afterwards.")
	mustBeAccessible(t, ann, "the fields of a packet")
	ann.Press("button", "Send ¥5.00")
	ann.Sees("wait for members who are away, until")
}
