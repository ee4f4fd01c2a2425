package web

import (
	"fmt"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserGoverning has an owner rename the room, and mute, remove, ban and unban members. Destructive commands must
// be confirmed first. Refusals must be shown as text, and all changes must be shown at once.
func TestBrowserGoverning(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{Phone: true})
	me := webtest.Ask[string](ann.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1])).sub`)
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, me).Room.ID
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

// TestBrowserRoomSettings has an owner change which members may invite, and whether guests may join. Members must be offered to invite only
// while they may, and all members must be told.
func TestBrowserRoomSettings(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	browser := webtest.Browser(t)
	ann, bob := visitAsGuest(t, browser, page, "Ann", webtest.Screen{Phone: true}), visitAsGuest(t, browser, page, "Bob", webtest.Screen{})
	owner := webtest.Ask[string](ann.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1])).sub`)
	member := webtest.Ask[string](bob.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1])).sub`)
	host := s.httpGuest(t, "Host")
	room := host.does("create_room", `"name":"Tea","kind":"private","members":[%q,%q]`, owner, member).Room.ID
	host.does("set_role", `"room":%q,"user":%q,"role":"owner"`, room, owner)

	bob.Press("link", "Tea")
	bob.Press("heading", "Tea")
	bob.Has("heading", "Members 3")
	bob.Lacks("button", "Invite")
	bob.Lacks("radio", "All members")
	ann.Press("link", "Tea")
	ann.Press("heading", "Tea")
	ann.Has("button", "Invite")
	ann.Press("radio", "All members")
	bob.Sees("Ann let all members invite people")
	bob.Has("button", "Invite")
	host.does("mute", `"room":%q,"user":%q,"seconds":3600`, room, member)
	bob.Lacks("button", "Invite")
	host.does("mute", `"room":%q,"user":%q,"seconds":0`, room, member)
	bob.Has("button", "Invite")
	ann.Press("radio", "Only admins")
	bob.Sees("Ann let only admins invite people")
	bob.Lacks("button", "Invite")

	ann.Press("switch", "Guests may join")
	bob.Sees("Ann closed the room to guests")
	ann.Press("button", "Invite")
	ann.Press("button", "Choose people you know")
	cyn := s.httpGuest(t, "Cyn").User.ID
	ann.Press("searchbox", "Name or id")
	ann.Key(cyn)
	ann.Key("\r")
	ann.Press("button", "Invite to Tea")
	ann.Sees("This room doesn’t let guests in.")
	ann.Back()
	ann.Press("switch", "Guests may join")
	bob.Sees("Ann opened the room to guests")

	cake := host.does("create_room", `"name":"Cake","kind":"public"`).Room.ID
	host.does("update_room", `"room":%q,"guests":false`, cake)
	link := bob.Again(t, page+"/#/room/"+cake, webtest.Screen{Language: "zh-CN"})
	link.Press("button", "加入")
	link.Sees("这个群不允许访客加入")
}

// TestBrowserContacts blocks a user on the page and changes the setting of contacts. The server must store both. What another device
// of the user changes must be shown at once.
func TestBrowserContacts(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	device := &httpGuest{t: t, h: bob.h, GuestReply: wire.GuestReply{Token: webtest.Ask[string](ann.Tab, `localStorage.getItem('hongbao-guest')`)}}
	me := webtest.Ask[string](ann.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1])).sub`)
	bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, me)
	contacts := func() wire.ContactsReply {
		return mustAnswer[wire.ContactsReply](t, ask(t, bob.h, "POST", "/v1/commands/contacts", device.Token, "{}"), 200)
	}
	mustHave := func(contact string, blocked int) {
		t.Helper()
		if has := contacts(); has.Contact != contact || len(has.Blocked) != blocked || blocked > 0 && has.Blocked[0].ID != bob.User.ID {
			t.Errorf("the server has %+v, want %s and %d blocked", has, contact, blocked)
		}
	}

	ann.Press("link", "Tea")
	ann.Press("heading", "Tea")
	ann.Press("button", "Bob Owner")
	ann.Press("button", "Block")
	ann.Sees("Bob won’t be able to write to you")
	ann.Press("button", "Block")
	ann.Has("button", "Unblock")
	mustHave("everyone", 1)
	device.does("unblock", `"user":%q`, bob.User.ID)
	ann.Has("button", "Block")
	device.does("block", `"user":%q`, bob.User.ID)
	ann.Press("button", "Unblock")
	ann.Has("button", "Block")
	mustHave("everyone", 0)

	ann.Key("\x1b")
	ann.Press("button", "Ann open settings")
	ann.Press("radio", "Nobody")
	chosen := func() string {
		return webtest.Ask[string](ann.Tab, `document.querySelector('input[name=contact]:checked:enabled')?.value ?? ''`)
	}
	s.eventually(t, "the page's setting on the server", func() bool { return contacts().Contact == "nobody" })
	device.does("set_contact", `"contact":"shared"`)
	s.eventually(t, "the setting of another device on the page", func() bool { return chosen() == "shared" })
	mustHave("shared", 0)
}

// TestBrowserWallet shows the wallet. Transfers must be listed with a description, also new ones while the list is
// open, and summed up by year.
func TestBrowserWallet(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	token := webtest.Ask[string](ann.Tab, `localStorage.getItem('hongbao-guest')`)
	me := webtest.Ask[string](ann.Tab, `JSON.parse(atob(localStorage.getItem('hongbao-guest').split('.')[1])).sub`)
	room := bob.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, me).Room.ID
	ann.Press("link", "Tea")
	ann.Press("button", "Wallet, ¥10.00")
	ann.Sees("Play money to begin with", "+¥10.00")

	body := fmt.Sprintf(`{"key":"tea","room":%q,"total":123,"count":1,"greeting":"for tea"}`, room)
	sent := mustAnswer[wire.SendPacketReply](t, ask(t, bob.h, "POST", "/v1/commands/send_packet", bob.Token, body), 200)
	grab := fmt.Sprintf(`{"packet":%q}`, sent.Packet.ID)
	mustAnswer[wire.GrabReply](t, ask(t, bob.h, "POST", "/v1/commands/grab", token, grab), 200)
	ann.Sees("From Bob’s red packet", "+¥1.23", "¥11.23", "for tea")
	ann.Press("button", "My red packets")
	ann.Sees("from one red packet", "¥1.23")
	const summary = `document.querySelector('.year-summary')?.innerText.replace(/\s+/g, ' ') ?? ''`
	awaitAsk(t, ann, `/^Received ¥1.23 Sent ¥0.00 Luckiest 0 times Best day · \w+ \d+ ¥1.23$/.test(`+summary+`)`)
	ann.Screenshot("year")
	ann.Press("button", "Sent")
	ann.Sees("None sent this year")
}

// TestBrowserSwitchesLookOff compares the colours of a switch that is off with those of one that is on, in the light and in the dark. Only one
// that is on may be filled: its track must stand out from the surface as much as graphics must, and the other one's must not.
func TestBrowserSwitchesLookOff(t *testing.T) {
	enginetest.Nightly(t, "page")
	page := "http://" + newTestServer(t, withGuests).listen(t)
	browser := webtest.Browser(t)
	for name, screen := range map[string]webtest.Screen{"light": {}, "dark": {Dark: true}} {
		ann := visitAsGuest(t, browser, page, "Ann", screen)
		ann.Press("button", "Settings")
		ann.Has("switch", "Sound")
		track := func() float64 {
			ann.WaitForAnimations()
			return webtest.Ask[float64](ann.Tab, `(() => {
				const light = (colour) => {
					const [r, g, b] = colour.match(/[\d.]+/g).map((n) => n / 255).map((n) => (n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4));
					return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
				};
				const of = (e) => light(getComputedStyle(e).backgroundColor);
				const ratio = of(document.querySelector('[role=switch]')) / of(document.querySelector('dialog.sheet'));
				return Math.max(ratio, 1 / ratio);
			})()`)
		}
		off := track()
		ann.Press("switch", "Sound")
		on := track()
		if off > 1.5 || on < 3 {
			t.Errorf("%s: the track has a contrast of %.1f off and %.1f on, want at most 1.5 and at least 3", name, off, on)
		}
	}
}
