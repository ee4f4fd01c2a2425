package web

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket/lobby"
	"hongbao/store/enginetest"
	"hongbao/web/page"
	"hongbao/web/user/auth"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// newLobbyServer returns a server with guests' play money and a lobby.
func newLobbyServer(t *testing.T) *testServer {
	t.Helper()
	var l *lobby.Lobby
	s := newTestServer(t, withGuests, func(o *Options) {
		o.Lobby = func() page.Lobby { return page.Lobby{Room: l.Room(), Packet: l.Welcome()} }
	})
	l, err := lobby.Open(t.Context(), s.chat, s.packets, lobby.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	noError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { l.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	s.eventually(t, "the welcome packet", func() bool { return l.Welcome() != "" })
	return s
}

// comeIn signs in as a new guest.
func comeIn(v *webtest.Visitor, name string) {
	v.Fill("What may we call you?", name)
	v.Key("\r")
}

// TestBrowserNewcomerOpensTheWelcomePacket signs in for the first time. The newcomer must be shown a packet in the lobby, and get a
// share of it. The money must be called play money.
func TestBrowserNewcomerOpensTheWelcomePacket(t *testing.T) {
	enginetest.Nightly(t, "page")
	page := "http://" + newLobbyServer(t).listen(t)
	ann := webtest.Browser(t).Visit(t, page, webtest.Screen{Phone: true})
	ann.Sees("You get play money to try it with.")
	comeIn(ann, "Ann")
	ann.Sees("Welcome! 欢迎！")
	ann.Press("button", "Open")
	ann.Sees("You got")
	ann.Has("button", "Thank you!")
	ann.Lacks("button", "Send one back") // nobody would open it
	ann.Press("button", "Close")
	ann.Sees("Lobby · 大厅", "play money")
	ann.Press("button", "Wallet")
	ann.Sees("Play money in your wallet", "Play money to begin with", "From hongbao’s red packet")
	ann.Press("button", "Close")
	ann.Press("button", "Send a red packet")
	ann.Sees("of play money.")
	ann.Press("button", "Close")

	ann.Press("button", "Invite a friend")
	ann.Has("image", "QR code of the link")
	ann.Press("button", "Close")
	ben := webtest.Browser(t).Visit(t, page, webtest.Screen{})
	comeIn(ben, "Ben")
	ben.Sees("Welcome! 欢迎！")
	ann.Lacks("button", "Invite a friend") // somebody is there

	ann.Press("button", "Lobby · 大厅")
	ann.Press("button", "Leave this room")
	ann.Press("button", "Leave")
	ann.Sees("No rooms yet", "Open a second guest")
	ann.Reload()
	ann.Sees("No rooms yet") // only newcomers are led to the lobby

	mei := webtest.Browser(t).Visit(t, page, webtest.Screen{Language: "zh-CN"})
	mei.Fill("怎么称呼你？", "小美")
	mei.Key("\r")
	mei.Sees("Welcome! 欢迎！", "试玩金")
}

// TestBrowserFocusAfterASheetWithoutOpener closes sheets that no element of the page has opened: the welcome packet, and one that the address
// names. The focus must go to the page behind: to the message field on a wide screen, and else to the main part, so that no keyboard appears.
func TestBrowserFocusAfterASheetWithoutOpener(t *testing.T) {
	enginetest.Nightly(t, "page")
	page := "http://" + newLobbyServer(t).listen(t)
	browser := webtest.Browser(t)
	for name, c := range map[string]struct {
		screen         webtest.Screen
		welcomed, list string
	}{
		"laptop": {webtest.Screen{}, "TEXTAREA", "MAIN room"},
		"phone":  {webtest.Screen{Phone: true}, "MAIN room", "DIV rooms"},
	} {
		ann := browser.Visit(t, page, c.screen)
		comeIn(ann, "Ann")
		ann.Press("button", "Open")
		ann.Sees("in your wallet")
		ann.Press("button", "Close")
		ann.Has("textbox", "Message")
		focused := func(want string) {
			t.Helper()
			ann.Lacks("dialog", "")
			got := webtest.Ask[string](ann.Tab, `(({ tagName, className }) => tagName === 'TEXTAREA' ? tagName : tagName + ' ' + className)(document.activeElement)`)
			if got != want {
				t.Errorf("%s: the focus is on %q, want %q", name, got, want)
			}
		}
		focused(c.welcomed)
		settings := ann.Again(t, page+"/#/settings", c.screen)
		settings.Press("button", "Close")
		ann = settings
		focused(c.list)
	}
}

// TestBrowserServiceIsNoPerson meets the sender of the welcome packet, which is the server. The page must not offer it where people are offered:
// for an invitation, a direct chat, a mention, a packet, and among the members. It tells an id only of people with the same name.
func TestBrowserServiceIsNoPerson(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newLobbyServer(t)
	bob, cyn, dan, otherDan := s.httpGuest(t, "Bob"), s.httpGuest(t, "Cyn"), s.httpGuest(t, "Dan"), s.httpGuest(t, "Dan")
	ann := webtest.Browser(t).Visit(t, "http://"+s.listen(t), webtest.Screen{})
	comeIn(ann, "Ann")
	ann.Sees("Welcome! 欢迎！")
	ann.Press("button", "Close")
	ann.Press("textbox", "Message")
	ann.Key("@")
	ann.Lacks("option", "hongbao")
	ann.Fill("Message", "")
	ann.Press("button", "Lobby · 大厅")
	ann.Has("button", "Ann You")
	ann.Lacks("button", "hongbao Owner")
	ann.Press("button", "Send a red packet")
	ann.Press("radio", "For one person")
	ann.Has("radio", "Ann")
	ann.Lacks("radio", "hongbao")
	ann.Press("button", "Close")

	me := userID(ann)
	bob.does("create_room", `"name":"Tea","kind":"public","members":[%q,%q,%q,%q]`, me, cyn.User.ID, dan.User.ID, otherDan.User.ID)
	bob.does("create_room", `"name":"Cake","kind":"public","members":[%q]`, me)
	rows := func() string {
		return webtest.Ask[string](ann.Tab, `[...document.querySelectorAll('.sheet label.panel-row, .sheet .person-row')].map((e) => e.innerText.replaceAll('\n', ' ')).join('; ')`)
	}
	dans := []string{"Dan " + dan.User.ID, "Dan " + otherDan.User.ID}
	slices.Sort(dans)
	want := "C Cyn; D " + strings.Join(dans, "; D ")
	ann.Press("link", "Tea")
	ann.Press("button", "Tea")
	ann.Has("heading", "Members 5")
	ann.Press("link", "Cake")
	ann.Press("button", "Cake")
	ann.Has("button", "Bob Owner")
	ann.Press("button", "Invite")
	ann.Press("button", "Choose people you know")
	ann.Has("checkbox", "Cyn")
	if got := rows(); got != want {
		t.Errorf("offered for an invitation are %q, want %q", got, want)
	}
	ann.Press("button", "Close")
	ann.Press("button", "Direct chat")
	ann.Has("button", "Cyn")
	if got := rows(); got != "B Bob; "+want {
		t.Errorf("offered for a direct chat are %q, want %q", got, "B Bob; "+want)
	}
}

// TestBrowserLobbyCountsPeople looks at each number of members of the lobby. All must leave out its owner, which is the server.
func TestBrowserLobbyCountsPeople(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newLobbyServer(t)
	page := "http://" + s.listen(t)
	ann := webtest.Browser(t).Visit(t, page, webtest.Screen{})
	comeIn(ann, "Ann")
	ann.Sees("Welcome! 欢迎！")
	ben := webtest.Browser(t).Visit(t, page, webtest.Screen{})
	comeIn(ben, "Ben")
	ben.Sees("Welcome! 欢迎！")
	ann.Press("button", "Close")
	ann.Sees("2 members · 2 online")
	ann.Press("button", "Lobby · 大厅")
	ann.Has("heading", "Members 2")
	ann.Press("button", "Send a red packet")
	ann.Sees("2 people are here.")
	ann.Press("button", "Close")
	ann.Press("button", "Find")
	ann.Has("button", "Open Lobby · 大厅")
	if text := ann.Text(); strings.Contains(text, "3 members") || strings.Contains(text, "Members 3") {
		t.Errorf("the page counts the server: %q", text)
	}
}

// TestBrowserLinkLeadsPastTheLobby signs in for the first time by a link to a room. The newcomer must be led there, and not to the lobby.
func TestBrowserLinkLeadsPastTheLobby(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newLobbyServer(t)
	page := "http://" + s.listen(t)
	bob := s.httpGuest(t, "Bob")
	room := bob.does("create_room", `"name":"Hall","kind":"public"`).Room.ID
	ann := webtest.Browser(t).Visit(t, page+"/#/room/"+room, webtest.Screen{})
	comeIn(ann, "Ann")
	ann.Press("button", "Join")
	ann.Sees("Hall", "2 members")
	ann.Misses("Lobby")
}

// TestBrowserSecondGuest opens a window for another guest in the same browser. Each window must keep its guest.
func TestBrowserSecondGuest(t *testing.T) {
	enginetest.Nightly(t, "page")
	page := "http://" + newTestServer(t, withGuests).listen(t)
	ann := webtest.Browser(t).Visit(t, page, webtest.Screen{})
	comeIn(ann, "Ann")
	ann.Has("link", "Open a second guest")
	link := webtest.Ask[string](ann.Tab, `(() => { const a = document.querySelector('.second-guest a'); return [a.search, a.target, a.rel].join(' '); })()`)
	search, rest, _ := strings.Cut(link, " ")
	if rest != "_blank noopener" { // a window with an opener begins with a copy of the opener's session storage
		t.Errorf("the link is %q, want a new window without an opener", link)
	}
	ben := ann.Again(t, page+"/"+search, webtest.Screen{})
	ben.Sees("only for this window")
	comeIn(ben, "Ben")
	ben.Sees("No rooms yet")
	cid := ann.Again(t, page+"/"+search, webtest.Screen{})
	cid.Sees("What may we call you?")
	for name, v := range map[string]*webtest.Visitor{"Ann": ann, "Ben": ben} {
		v.Reload()
		v.Sees("No rooms yet", name)
	}
	ben.Press("button", "Settings")
	ben.Press("button", "Sign out")
	ben.Press("button", "Sign out")
	ben.Sees("What may we call you?")
	ann.Reload()
	ann.Sees("No rooms yet", "Ann")
}

// TestBrowserGuestChangesProfile chooses another name and picture. Other members must see both.
func TestBrowserGuestChangesProfile(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	room := bob.does("create_room", `"name":"Hall","kind":"public"`).Room.ID
	ann := webtest.Browser(t).Visit(t, "http://"+s.listen(t)+"/#/room/"+room, webtest.Screen{Phone: true})
	comeIn(ann, "Ann")
	ann.Press("button", "Join")
	ann.Press("button", "Back")
	ann.Press("button", "Settings")
	ann.Press("button", "Change name and picture")
	ann.Fill("Name", "")
	ann.Press("button", "Save")
	ann.Sees("Please say what others may call you.")
	ann.Fill("Name", "the hongbao")
	ann.Press("radio", "Tiger")
	ann.Press("button", "Save")
	ann.Sees("the hongbao") // no names are reserved on this server
	ann.Press("button", "Change name and picture")
	ann.Fill("Name", "Anna")
	ann.Press("button", "Save")
	ann.Has("button", "Change name and picture")
	awaitAsk(t, ann, `document.querySelector('dialog .avatar img')?.naturalWidth > 0`)
	members := mustAnswer[wire.MembersReply](t, ask(t, bob.h, "POST", "/v1/commands/members", bob.Token, `{"room":"`+room+`"}`), 200).Members
	if got := members[1].User; got.Name != "Anna" || got.Avatar != "avatars/3.svg" {
		t.Errorf("others see %+v, want Anna as a tiger", got)
	}
}

// chooseFile evaluates to true once a file is chosen in the form of the profile: a wide picture of three colours, or a text.
const chooseFile = `(async (isPicture) => {
	const canvas = Object.assign(document.createElement('canvas'), { width: 900, height: 300 });
	const pen = canvas.getContext('2d');
	['red', 'lime', 'blue'].forEach((colour, n) => { pen.fillStyle = colour; pen.fillRect(300 * n, 0, 300, 300); });
	const picture = await new Promise((done) => { canvas.toBlob(done); });
	const files = new DataTransfer();
	files.items.add(isPicture ? new File([picture], 'me.png', { type: 'image/png' }) : new File(['hello'], 'me.png', { type: 'image/png' }));
	const input = document.querySelector('input[type=file]');
	input.files = files.files;
	input.dispatchEvent(new Event('change', { bubbles: true }));
	return true;
})`

// middleOfAvatar evaluates to the colour in the middle of the avatar of the settings, or "" while it is not loaded.
const middleOfAvatar = `(() => {
	const image = document.querySelector('.settings-me .avatar img');
	if (image?.naturalWidth !== 160 || image.naturalHeight !== 160 || !image.src.includes('/pictures/')) return '';
	const pen = new OffscreenCanvas(160, 160).getContext('2d');
	pen.drawImage(image, 0, 0);
	return [...pen.getImageData(80, 80, 1, 1).data].slice(0, 3).map((v) => Math.round(v / 255)).join();
})()`

// TestBrowserGuestChoosesAPicture chooses a file as the picture of a guest. The middle of it must be the guest's avatar, until the guest takes it off. A
// file that is no picture must be refused.
func TestBrowserGuestChoosesAPicture(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	bob := s.httpGuest(t, "Bob")
	room := bob.does("create_room", `"name":"Hall","kind":"public"`).Room.ID
	ann := webtest.Browser(t).Visit(t, "http://"+s.listen(t)+"/#/room/"+room, webtest.Screen{})
	comeIn(ann, "Ann")
	ann.Press("button", "Join")
	avatar := func() string {
		return mustAnswer[wire.MembersReply](t, ask(t, bob.h, "POST", "/v1/commands/members", bob.Token, `{"room":"`+room+`"}`), 200).Members[1].User.Avatar
	}
	ann.Press("button", "Settings")
	ann.Press("button", "Change name and picture")
	webtest.Ask[bool](ann.Tab, chooseFile+`(false)`)
	ann.Sees("This file can’t be read as a picture. Try another one.")
	webtest.Ask[bool](ann.Tab, chooseFile+`(true)`)
	ann.Has("radio", "Your picture")
	ann.Press("button", "Save")
	ann.Has("button", "Change name and picture")
	awaitAsk(t, ann, middleOfAvatar+` === '0,1,0'`)
	if got := avatar(); !strings.HasPrefix(got, "pictures/") {
		t.Errorf("others see the avatar %q, want a picture", got)
	}
	ann.Press("button", "Change name and picture")
	ann.Press("radio", "First letter")
	ann.Press("button", "Save")
	ann.Has("button", "Change name and picture")
	if got := avatar(); got != "" {
		t.Errorf("others see the avatar %q, want none", got)
	}
}

// TestBrowserUserChoosesAPicture signs in with tokens of a host. A user may choose a picture unless the token says one.
func TestBrowserUserChoosesAPicture(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t)
	page := "http://" + s.listen(t) + "/"
	b := webtest.Browser(t)
	signIn := func(c auth.Claims) *webtest.Visitor {
		v := b.Visit(t, page, webtest.Screen{})
		v.Fill("Token", mint(t, c, time.Hour))
		v.Key("\r")
		v.Press("button", "Settings")
		return v
	}
	ann := signIn(auth.Claims{User: "ann", Name: "Ann"})
	ann.Press("button", "Change picture")
	webtest.Ask[bool](ann.Tab, chooseFile+`(true)`)
	ann.Has("radio", "Your picture")
	ann.Press("button", "Save")
	ann.Has("button", "Change picture")
	awaitAsk(t, ann, middleOfAvatar+` === '0,1,0'`)
	ben := signIn(auth.Claims{User: "ben", Name: "Ben", Avatar: "icon.svg"})
	ben.Has("button", "Copy your id")
	ben.Lacks("button", "Change picture")
}

// TestBrowserDeviceLink takes a guest to another browser by a link. The link must work once.
func TestBrowserDeviceLink(t *testing.T) {
	enginetest.Nightly(t, "page")
	page := "http://" + newTestServer(t, withGuests).listen(t)
	browser := webtest.Browser(t)
	ann := browser.Visit(t, page, webtest.Screen{})
	comeIn(ann, "Ann")
	ann.Press("button", "Settings")
	ann.Press("button", "Make a link")
	ann.Has("image", "QR code of the link to this account")
	ann.Sees("Scan the code with the other device")
	link := webtest.Ask[string](ann.Tab, `document.querySelector('.device-link input').value`)

	phone := browser.Visit(t, link, webtest.Screen{Phone: true})
	phone.Sees("Bring your account here")
	phone.Press("button", "Use it here")
	phone.Sees("No rooms yet", "Ann")
	if address := webtest.Ask[string](phone.Tab, `location.href`); strings.Contains(address, "device") {
		t.Errorf("the address is still %s", address)
	}

	ben := browser.Visit(t, page, webtest.Screen{})
	comeIn(ben, "Ben")
	ben.Sees("No rooms yet")
	ben = ben.Again(t, link, webtest.Screen{})
	ben.Expect("404")
	ben.Sees("It replaces the guest that this browser has now")
	ben.Press("button", "Use it here")
	ben.Sees("This link was used already")
	ben.Press("button", "Stay as I am")
	ben.Sees("No rooms yet", "Ben")
}

// TestBrowserSystem shows what the host's back end says. It is no user, so nothing can be done with it.
func TestBrowserSystem(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	room := s.httpGuest(t, "Bob").does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	if _, err := s.CallFor(t.Context(), chat.System, "", "send", []byte(`{"room":"`+room+`","key":"k","text":"We close at noon"}`)); err != nil {
		t.Fatal(err)
	}
	ann.Press("link", "Tea")
	ann.Sees("We close at noon")
	ann.Press("button", "System")
	ann.Sees("It reads no answers")
	ann.Lacks("button", "Block")
	ann.Lacks("button", "Message privately")
}

// TestBrowserFrozenRoom freezes a room. The page must say so, and let nobody write, until it is over.
func TestBrowserFrozenRoom(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	room := s.httpGuest(t, "Bob").does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	freeze := func(frozen bool) {
		t.Helper()
		if _, err := s.chat.UpdateRoom(t.Context(), chat.System, room, chat.RoomChange{Frozen: &frozen}); err != nil {
			t.Fatal(err)
		}
	}
	ann.Press("link", "Tea")
	ann.Has("textbox", "Message")
	freeze(true)
	ann.Sees("This room is frozen: nobody can write for now", "System froze the room")
	ann.Lacks("textbox", "Message")
	freeze(false)
	ann.Sees("System opened the room for messages again")
	ann.Has("textbox", "Message")
}

// TestBrowserRoomWithoutPackets switches packets off in a room, and on again. The button of packets must say why it does nothing.
func TestBrowserRoomWithoutPackets(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	page := "http://" + s.listen(t)
	ann := visitAsGuest(t, webtest.Browser(t), page, "Ann", webtest.Screen{})
	host := s.httpGuest(t, "Bob")
	room := host.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	host.does("set_role", `"room":%q,"user":%q,"role":"owner"`, room, userID(ann))
	ann.Press("link", "Tea")
	ann.Has("button", "Send a red packet")
	ann.Press("heading", "Tea")
	ann.Press("switch", "Red packets may be sent")
	ann.Sees("You switched red packets off")
	ann.Lacks("button", "Send a red packet")
	ann.Back()
	ann.Has("button", "Red packets are switched off in this room.")
	webtest.Ask[bool](ann.Tab, `document.querySelector('.packet-button').click(), true`)
	ann.Sees("Red packets are switched off in this room.") // the toast
	ann.Lacks("dialog", "")
	ann.Press("heading", "Tea")
	ann.Press("switch", "Red packets may be sent")
	ann.Sees("You allowed red packets")
	ann.Back()
	ann.Has("button", "Send a red packet")
}

// TestBrowserGuestWithNameFromRightToLeft shows a message of a guest whose name is written from right to left. The mark of guests must stand
// behind the name, as it does behind other names.
func TestBrowserGuestWithNameFromRightToLeft(t *testing.T) {
	enginetest.Nightly(t, "page")
	s := newTestServer(t, withGuests)
	layla := s.httpGuest(t, "ليلى")
	ann := visitAsGuest(t, webtest.Browser(t), "http://"+s.listen(t), "Ann", webtest.Screen{})
	room := layla.does("create_room", `"name":"Tea","kind":"public","members":[%q]`, userID(ann)).Room.ID
	layla.does("send", `"room":%q,"text":"hello"`, room)
	ann.Press("link", "Tea")
	awaitAsk(t, ann, `document.querySelector('.sender:not([data-mark])')`) // all are guests
	dan := &httpGuest{t: t, h: layla.h, GuestReply: wire.GuestReply{Token: goodToken(t, "dan")}}
	dan.does("join", `"room":%q`, room)
	dan.does("send", `"room":%q,"text":"hello, guests"`, room)
	awaitAsk(t, ann, `document.querySelector('.sender[data-mark]')`)
	got := webtest.Ask[string](ann.Tab, `((sender) => [getComputedStyle(sender).direction, getComputedStyle(sender, '::after').content, getComputedStyle(sender.firstElementChild ?? sender).direction].join())(document.querySelector('.sender'))`)
	if want := `ltr," · Guest",rtl`; got != want {
		t.Errorf("line, mark and name are %s, want %s", got, want)
	}
}
