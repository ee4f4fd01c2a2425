package web

import (
	"fmt"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserWaitingPackets brings Ann into a room with packets, and with texts after them. A button must lead from one packet to the next, and the
// list of rooms must show them until they are opened or have ended.
func TestBrowserWaitingPackets(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea := bob.does("create_room", `"name":"Tea","kind":"public"`).Room.ID
	var packets []string
	for n := range 3 {
		packets = append(packets, bob.packet(tea, 100, 2, fmt.Sprintf(`,"greeting":"number %d"`, n)).ID)
		for line := range 15 {
			bob.does("send", `"room":%q,"text":"chatter %d.%d"`, tea, n, line)
		}
	}
	bob.does("create_room", `"name":"Cake","kind":"public","members":[%q]`, userID(ann))
	bob.does("invite", `"room":%q,"users":[%q]`, tea, userID(ann))
	ann.Has("link", "Tea")
	ann.Has("link", "3 packets waiting")

	ann.Press("link", "Tea")
	ann.Sees("chatter 2.14")
	for _, greeting := range []string{"number 2", "number 1"} {
		ann.Press("button", "3 packets waiting")
		awaitAsk(t, ann, fmt.Sprintf(`document.activeElement.innerText.includes(%q)`, greeting))
	}
	ann.Key("\r") // the envelope has the focus
	ann.Press("button", "Open")
	ann.Has("button", "Send one back")
	ann.Press("button", "Close")
	ann.Has("link", "2 packets waiting")
	ann.Press("button", "2 packets waiting")
	awaitAsk(t, ann, `document.activeElement.innerText.includes("number 0")`)

	ann.Press("link", "Cake")
	ann.Has("heading", "Cake")
	bob.does("send", `"room":%q,"text":"later chatter"`, tea)
	ann.Has("link", "2 packets waiting")
	bob.does("cancel_packet", `"packet":%q`, packets[2])
	ann.Has("link", "1 packet waiting")
	ann.Reload()
	ann.Has("link", "1 packet waiting")
}

// TestBrowserLongAbsence opens a room with more new messages than are loaded at once. A button must lead to the first new one.
func TestBrowserLongAbsence(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	ann.Press("link", "Cake")
	for line := range 130 {
		bob.does("send", `"room":%q,"text":"line %d"`, tea, line)
	}
	ann.Press("link", "Tea")
	ann.Sees("line 129")
	ann.Misses("line 0")
	ann.Press("button", "130 new since")
	awaitAsk(t, ann, `document.querySelector('.new-line')?.parentElement.innerText.includes('line 0') ?? false`)
	ann.Sees("line 0")
	ann.Lacks("button", "130 new since")
}

// TestBrowserRoomPackets lists the packets of a room: open, of the user, and ended.
func TestBrowserRoomPackets(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	tea, _ := twoRooms(t, bob, ann)
	bob.packet(tea, 100, 2, `,"greeting":"still open"`)
	bob.does("cancel_packet", `"packet":%q`, bob.packet(tea, 100, 2, `,"greeting":"taken back"`).ID)
	ann.Press("link", "Tea")
	ann.Press("button", "Tea")
	ann.Press("button", "Red packets here")
	ann.Has("button", "still open Bob")
	ann.Lacks("button", "taken back Bob")
	ann.Press("button", "Mine")
	ann.Sees("You have neither sent nor opened one here.")
	ann.Press("button", "Ended")
	ann.Has("button", "taken back Bob")
	ann.Lacks("button", "still open Bob")
	ann.Screenshot("ended")
	ann.Press("button", "taken back Bob")
	ann.Sees("Bob has taken it back")
}

// TestBrowserInvitationCarriesAPacket sends a packet and opens the invitation of the room. A friend that comes by it must find the packet to be opened.
func TestBrowserInvitationCarriesAPacket(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	browser := webtest.Browser(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	ann.Press("button", "New room")
	ann.Fill("Name", "Tea")
	ann.Press("button", "Make the room")
	ann.Has("heading", "Tea")
	token := webtest.Ask[string](ann.Tab, `localStorage.getItem('hongbao-guest')`)
	room := webtest.Ask[string](ann.Tab, `location.hash.split('/')[2]`)
	mustAnswer[wire.SendPacketReply](t, ask(t, s.Handler(), "POST", "/v1/commands/send_packet", token,
		fmt.Sprintf(`{"room":%q,"key":"p","total":500,"count":2,"greeting":"for friends"}`, room)), 200)
	ann.Has("button", "for friends")
	ann.Press("heading", "Tea")
	ann.Press("button", "Invite")
	ann.Sees("Your red packet “for friends” waits")
	link := webtest.Ask[string](ann.Tab, `document.querySelector('.sheet .new-link input').value`)

	bob := browser.Visit(t, link, webtest.Screen{Phone: true})
	bob.Sees("Ann saved a red packet for you", "for friends")
	bob.Screenshot("door")
	bob.Fill("What may we call you?", "Bob")
	bob.Key("\r")
	bob.Press("button", "Open")
	bob.Sees("You got")
}
