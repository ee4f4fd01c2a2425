package web

import (
	"fmt"
	"strings"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// TestBrowserInviteLink makes a private room: the page must show a link to it at once, and the same one from one tap later. A visitor must see the room before
// signing in, and be in it afterwards. After the link was revoked, the page must say so.
func TestBrowserInviteLink(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	browser := webtest.Browser(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	ann.Press("button", "New room")
	ann.Fill("Name", "Tea")
	ann.Press("radio", "Private")
	ann.Press("button", "Make the room")
	ann.Has("heading", "Tea")
	ann.Has("image", "QR code of the link")
	ann.Has("button", "Send the first packet")
	link := webtest.Ask[string](ann.Tab, `document.querySelector('.new-link input').value`)
	if !strings.HasPrefix(link, page+"/#/link/") {
		t.Fatalf("the link is %q", link)
	}

	bob := browser.Visit(t, link, webtest.Screen{Phone: true})
	bob.Sees("Ann invites you to", "Tea", "1 member", "Ann is here")
	bob.Fill("What may we call you?", "Bob")
	bob.Key("\r")
	bob.Has("heading", "Tea")
	bob.Sees("Ann invited you")
	again := bob.Again(t, link, webtest.Screen{})
	again.Has("heading", "Tea")

	ann.Press("button", "Invite")                                                                         // one tap
	awaitAsk(t, ann, fmt.Sprintf(`document.querySelector('.sheet .new-link input')?.value === %q`, link)) // the same link
	ann.Press("DisclosureTriangle", "Limits, and other links")
	ann.Sees("1 person came in")
	ann.Press("button", "Revoke the link until")
	ann.Sees("No link at the moment.")
	room := webtest.Ask[string](ann.Tab, `location.hash.split('/')[2]`)
	for range 3 { // three other browsers of Ann
		mustAnswer[wire.CreateLinkReply](t, ask(t, s.Handler(), "POST", "/v1/commands/create_link", storedGuest(ann), fmt.Sprintf(`{"room":%q,"ttl_s":604800}`, room)), 200)
	}
	ann.Press("button", "Close")
	ann.Press("button", "Invite")
	ann.Has("image", "QR code of the link")
	ann.Press("DisclosureTriangle", "Limits, and other links")
	awaitAsk(t, ann, `document.querySelectorAll('.links .panel-list li').length === 2`) // the newest of the other browsers stays
	ann.Press("radio", "1 day")
	ann.Press("radio", "10")
	ann.Press("button", "Make a link with these limits")
	ann.Sees("0 of 10 came in")
	awaitAsk(t, ann, fmt.Sprintf(`document.querySelector('.sheet .new-link input').value !== %q`, link))
	cyn := browser.Visit(t, link, webtest.Screen{Language: "zh-CN"})
	cyn.Expect("404")
	cyn.Sees("这个邀请链接已失效")
	cyn.Fill("怎么称呼你？", "Cyn")
	cyn.Key("\r")
	cyn.Sees("这个邀请链接已失效")
	cyn.Lacks("button", "加入")
}

// TestBrowserInviteToPacket opens a link that was shared for a packet. A visitor must see whose packet it is, and find it open after signing in. A
// user that is signed in already must be asked before they join.
func TestBrowserInviteToPacket(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	room := bob.does("create_room", `"name":"Tea","kind":"private"`).Room.ID
	sent := mustAnswer[wire.SendPacketReply](t, ask(t, bob.h, "POST", "/v1/commands/send_packet", bob.Token,
		fmt.Sprintf(`{"room":%q,"key":"p","total":500,"count":2,"greeting":"for new friends"}`, room)), 200)
	made := mustAnswer[wire.CreateLinkReply](t, ask(t, bob.h, "POST", "/v1/commands/create_link", bob.Token, fmt.Sprintf(`{"room":%q}`, room)), 200)
	link := page + "/#/link/" + made.Code + "/packet/" + sent.Packet.ID
	browser := webtest.Browser(t)
	cyn := browser.Visit(t, link, webtest.Screen{})
	cyn.Sees("Bob saved a red packet for you", "for new friends", "Bob invites you to", "Tea")
	cyn.Fill("What may we call you?", "Cyn")
	cyn.Key("\r")
	awaitAsk(t, cyn, fmt.Sprintf(`location.hash === '#/room/%s/packet/%s'`, room, sent.Packet.ID))
	cyn.Sees("for new friends")

	dan := visitAsGuest(t, browser, page, "Dan", webtest.Screen{})
	dan = dan.Again(t, link, webtest.Screen{Phone: true})
	dan.Sees("Join this room?", "Bob saved a red packet for you", "2 members")
	dan.Press("button", "Join")
	awaitAsk(t, dan, fmt.Sprintf(`location.hash === '#/room/%s/packet/%s'`, room, sent.Packet.ID))
}

// TestBrowserJoinRequest asks to enter by a link that needs approval. The page must say that the user waits, show the request to the owner,
// and open the room once the user was let in.
func TestBrowserJoinRequest(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	browser := webtest.Browser(t)
	ann := visitAsGuest(t, browser, page, "Ann", webtest.Screen{})
	ann.Press("button", "New room")
	ann.Fill("Name", "Tea")
	ann.Press("button", "Make the room")
	ann.Has("heading", "Tea")
	ann.Press("button", "Invite") // one tap
	ann.Press("DisclosureTriangle", "Limits, and other links")
	ann.Press("switch", "Ask before letting people in")
	ann.Press("button", "Make a link with these limits")
	ann.Sees("asks first")
	link := webtest.Ask[string](ann.Tab, `document.querySelector('.sheet .new-link input').value`)
	ann.Key("\x1b")

	bob := browser.Visit(t, link, webtest.Screen{Phone: true})
	bob.Sees("The owner or an admin lets you in.")
	bob.Fill("What may we call you?", "Bob")
	bob.Key("\r")
	bob.Sees("Waiting to be let in")
	ann.Sees("Somebody would like to come into Tea.")
	room := webtest.Ask[string](ann.Tab, `location.hash.split('/')[2]`)
	ann = ann.Again(t, page+"/#/room/"+room+"/info", webtest.Screen{})
	ann.Press("button", "Let in Bob")
	bob.Has("heading", "Tea")
	bob.Sees("Ann invited you")
	ann.Misses("Would like to come in")
}

// TestBrowserNewRoomSettings sets which members may invite while a room is created.
func TestBrowserNewRoomSettings(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	ann.Press("button", "New room")
	ann.Fill("Name", "Tea")
	ann.Press("radio", "Public")
	ann.Press("radio", "Only admins")
	ann.Press("button", "Make the room")
	ann.Has("heading", "Tea")
	bob := s.httpGuest(t, "Bob")
	found := mustAnswer[wire.FindRoomsReply](t, ask(t, bob.h, "POST", "/v1/commands/find_rooms", bob.Token, "{}"), 200).Rooms
	if len(found) != 1 || found[0].Invite != "admins" {
		t.Errorf("made %+v", found)
	}
}

// TestBrowserPublicRoomLink opens the address of a public room without a guest. The visitor must see the room before signing in. The address of a private room
// must look like one of a room that does not exist.
func TestBrowserPublicRoomLink(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	public := bob.does("create_room", `"name":"Tea","kind":"public"`).Room.ID
	private := bob.does("create_room", `"name":"Secret","kind":"private"`).Room.ID
	browser := webtest.Browser(t)
	ann := browser.Visit(t, page+"/#/room/"+public, webtest.Screen{Phone: true})
	ann.Has("heading", "Tea")
	ann.Sees("1 member")
	ann.Fill("What may we call you?", "Ann")
	ann.Key("\r")
	ann.Sees("Join this room?", "Tea")
	ann.Press("button", "Join")
	ann.Has("textbox", "Message")

	for _, room := range []string{private, "none"} {
		cyn := browser.Visit(t, page+"/#/room/"+room, webtest.Screen{Language: "zh-CN"})
		cyn.Expect("404")
		cyn.Sees("怎么称呼你？", "你打开了一个群的链接")
		cyn.Misses("Secret")
	}
}
