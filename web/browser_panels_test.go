package web

import (
	"fmt"
	"testing"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserGoverning has an owner rename the room, and mute, remove, ban and unban members. Destructive commands must
// be confirmed first. Refusals must be shown as text, and all changes must be shown at once.
func TestBrowserGoverning(t *testing.T) {
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	me := webtest.Ask[string](ann.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1])).sub`)
	room := bob.does("create_room", `"name":"Tea","members":[%q]`, me).Room.ID
	bob.does("set_role", `"room":%q,"user":%q,"role":"owner"`, room, me)

	ann.Press("link", "Tea")
	ann.Press("heading", "Tea")
	ann.Press("button", "Edit name and announcement")
	ann.Fill("Name", "")
	ann.Sees("A room needs a name.")
	ann.Fill("Name", "Coffee")
	ann.Fill("Announcement", "<b>at five</b>")
	ann.Press("button", "Save")
	ann.Sees("Coffee", "<b>at five</b>")

	ann.Press("button", "Bob Admin")
	ann.Press("button", "Take the admin role away")
	ann.Has("button", "Make admin")
	ann.Press("button", "Mute")
	ann.Press("button", "Until it is lifted")
	ann.Sees("Muted")
	ann.Press("button", "Let speak again")
	ann.Misses("Muted")

	ann.Press("button", "Ban")
	ann.Sees("Ban Bob?")
	ann.Key("\x1b") // Escape closes only the question
	ann.Misses("Ban Bob?")
	ann.Press("button", "Remove from the room")
	ann.Press("button", "Remove")
	ann.Sees("Not in Coffee")
	ann.Press("button", "Ban")
	ann.Press("button", "Ban")
	ann.Misses("Ban Bob?")
	ann.Press("button", "Invite to this room")
	ann.Sees("One of these people is banned from this room.")
	ann.Press("button", "Lift a ban")
	ann.Press("button", "Invite to this room")
	ann.Has("button", "Remove from the room")

	ann.Back()
	ann.Press("button", "Delete this room")
	ann.Fill("Type “Coffee” to confirm", "Coffee")
	ann.Press("button", "Delete")
	ann.Sees("No rooms yet", "Coffee was deleted.")
}

// TestBrowserWallet shows the wallet. Transfers must be listed with a description, also new ones while the list is
// open, and summed up by year.
func TestBrowserWallet(t *testing.T) {
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	token := webtest.Ask[string](ann.Tab, `localStorage.getItem('hongbao-guest')`)
	me := webtest.Ask[string](ann.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1])).sub`)
	room := bob.does("create_room", `"name":"Tea","members":[%q]`, me).Room.ID
	ann.Press("link", "Tea")
	ann.Press("button", "Wallet, ¥10.00")
	ann.Sees("A gift to begin with", "+¥10.00")

	body := fmt.Sprintf(`{"key":"tea","room":%q,"total":123,"count":1,"greeting":"for tea"}`, room)
	sent := mustAnswer[wire.SendPacketReply](t, ask(t, bob.h, "POST", "/v1/commands/send_packet", bob.Token, body), 200)
	grab := fmt.Sprintf(`{"packet":%q}`, sent.Packet.ID)
	mustAnswer[wire.GrabReply](t, ask(t, bob.h, "POST", "/v1/commands/grab", token, grab), 200)
	ann.Sees("From Bob’s red packet", "+¥1.23", "¥11.23", "for tea")
	ann.Press("button", "My red packets")
	ann.Sees("from one red packet", "¥1.23")
	ann.Press("button", "Sent")
	ann.Sees("None sent this year")
}
