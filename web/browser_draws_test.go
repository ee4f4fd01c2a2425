package web

import (
	"encoding/json"
	"fmt"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

func TestBrowserScratch(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	browser := webtest.Browser(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	bob := visitAsGuest(t, browser, page, "Bob", webtest.Screen{Phone: true, Dark: true})
	cyn, dan := s.httpGuest(t, "Cyn"), s.httpGuest(t, "Dan")
	room := cyn.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q]`, userID(ann), userID(bob)).Room.ID
	dan.does("join", `"room":%q`, room)
	for _, v := range []*webtest.Visitor{ann, bob} {
		v.Press("link", "Tea")
	}
	ann.Press("button", "Send a red packet")
	ann.WaitForAnimations()
	ann.Screenshot("0 compose first")
	ann.Press("radio", "Draw")
	ann.Screenshot("0 compose top")
	ann.Press("radio", "10 sec")
	ann.Fill("Total", "3")
	ann.Fill("How many shares", "2")
	ann.Fill("Greeting", "for tea")
	ann.Screenshot("1 compose")
	ann.Press("button", "Send ¥3.00")
	bob.Has("button", "for tea")
	bob.Screenshot("2 envelope")
	bob.Press("button", "for tea")
	bob.Has("button", "Enter")
	bob.WaitForAnimations()
	bob.Screenshot("3 closed")
	bob.Press("button", "Enter")
	bob.Sees("You’re in")
	bob.Screenshot("4 in")
	history := cyn.packets(room)
	cyn.grab(history)
	dan.grab(history)
	bob.Sees("2 of 3 win")
	bob.Screenshot("5 in 3")
	ann.Sees("3 in")
	ann.Screenshot("6 sender")
	ann.Press("button", "for tea")
	ann.Press("button", "Enter")
	ann.Sees("2 of 4 win")
	ann.Screenshot("7 four")
	bob.Sees("Details and proof")
	bob.WaitForAnimations()
	bob.Screenshot("8 end")
	ann.Screenshot("9 end")
	for _, v := range []*webtest.Visitor{ann, bob} {
		v.Press("button", "Details and proof")
		v.Press("button", "Check the draw")
		v.Sees("Checked in this browser")
		v.Screenshot("10 checked")
		v.Press("button", "Close")
		v.Screenshot("11 room")
	}
}

// packets returns the id of the last packet of a room.
func (a *httpGuest) packets(room string) string {
	a.t.Helper()
	history := mustAnswer[wire.HistoryReply](a.t, ask(a.t, a.h, "POST", "/v1/commands/history", a.Token, fmt.Sprintf(`{"room":%q}`, room)), 200)
	var id string
	for _, e := range history.Entries {
		if e.Kind == "packet" {
			var p wire.Packet
			noError(a.t, json.Unmarshal(e.Body, &p))
			id = p.ID
		}
	}
	return id
}
