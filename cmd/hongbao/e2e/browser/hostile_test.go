package browser

import (
	"strings"
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// hostile texts have broken other pages: markup that runs, direction overrides, stacked accents, endless words.
var hostile = []string{
	`<img src=x onerror="hacked=1">`,
	`<script>hacked=1</script>`,
	`"><svg onload=hacked=1>`,
	`javascript:hacked=1`,
	`{{constructor.constructor('hacked=1')()}}`,
	reversed,
	stacked,
	strings.Repeat("👩‍👩‍👧‍👦🏴‍☠️", 4),
	strings.Repeat("W", 60),
	"שלום עולם " + strings.Repeat("مرحبا", 6),
}

// These may be texts, but not names: characters that show nothing, and more than 30 accents on one letter.
var (
	reversed = "\u202egnp.exe\u2066 turned \u2067around"
	stacked  = "Z" + strings.Repeat("\u0352\u0353\u035a\u0330", 10) + "algo"
)

// TestBrowserHostile: names of users and rooms, messages and greetings are shown as text, and do not break the layout.
func TestBrowserHostile(t *testing.T) {
	enginetest.Nightly(t, "page")
	t.Parallel()
	f := newFixture(t)
	ann := f.openPage(webtest.Screen{Phone: true})
	ann.signInAs(hostile[0])
	me := &apiUser{f, wire.GuestReply{Token: ann.token()}}
	room := command[wire.CreateRoomReply](me, "create_room", wire.CreateRoomRequest{Key: newKey(), Name: hostile[2], Kind: "public"}).Room.ID
	announcement := strings.Join(hostile, "\n")
	command[rawReply](me, "update_room", wire.UpdateRoomRequest{Room: room, Announcement: &announcement})
	var last, packet string
	for i, text := range hostile {
		name := text
		switch text {
		case reversed:
			name = "gnp.exe"
		case stacked:
			name = "Z" + strings.Repeat("\u0352\u0353\u035a", 10) + "algo"
		}
		user := f.newAPIUser(name)
		user.join(room)
		command[wire.SendReply](user, "send", wire.SendRequest{Room: room, Key: newKey(), Text: text + "\n" + strings.Repeat(text, 12), ReplyTo: int64(min(i, 1)), Mentions: []string{ann.id()}})
		packet = command[wire.SendPacketReply](user, "send_packet", wire.SendPacketRequest{Room: room, Key: newKey(), Total: 100, Count: new(2), Greeting: text}).Packet.ID
		command[wire.GrabReply](user, "grab", wire.GrabRequest{Packet: packet})
		command[wire.CreateRoomReply](user, "create_room", wire.CreateRoomRequest{Key: newKey(), Name: name, Kind: "public", Members: []string{ann.id()}})
		last = user.User.ID
	}
	tom := f.newAPIUser("Tom")
	tom.join(room)
	tom.say(room, "javascript:hacked=1 https://example.com/"+strings.Repeat("a", 300)+" data:text/html,<script>hacked=1</script>")

	for _, v := range []view{
		{name: "rooms", hash: "#/", shows: hostile[0]},
		{name: "room", hash: "#/room/" + room, shows: hostile[2]},
		{name: "about the room", hash: "#/room/" + room + "/info", shows: hostile[1]},
		{name: "person", hash: "#/room/" + room + "/person/" + last, shows: "Message privately"},
		{name: "message", hash: "#/room/" + room + "/message/3", shows: "Reply"},
		{name: "envelope", hash: "#/room/" + room + "/packet/" + packet, shows: "Look inside"},
		{name: "invite", hash: "#/room/" + room + "/invite", shows: "Everybody you’ve met"},
		{name: "wallet", hash: "#/room/" + room + "/wallet", shows: "Play money to begin with"},
		{name: "settings", hash: "#/room/" + room + "/settings", shows: hostile[0]},
		{name: "search", hash: "#/room/" + room + "/search", shows: "Search messages", fill: "Words to find", text: "hacked", finds: "hacked"},
	} {
		ann.goToView(v)
		mustFit(t, ann, v.name)
		mustBeText(t, ann, v.name)
	}
	ann.goTo("#/room/" + room)
	ann.Sees("In reply to")
	mustShow(t, ann, hostile)

	if won := ann.openPacket("Red packet from " + hostile[8]); won == 0 {
		t.Error("the user won nothing from a packet with free shares")
	}
	mustFit(t, ann, "packet")
	mustBeText(t, ann, "packet")
	ann.Press("button", "Close")
	ann.say(announcement)
	ann.Lacks("image", "Being sent")
	mustFit(t, ann, "room, after the user's own message")
	mustBeText(t, ann, "room, after the user's own message")
}

// mustBeText fails the test if a user's text has run as a script or become an element.
func mustBeText(t *testing.T, u *browserUser, where string) {
	t.Helper()
	if webtest.Ask[bool](u.Tab, `'hacked' in window`) {
		t.Errorf("%s: a script in a user's text has run", where)
	}
	const made = `[...document.querySelectorAll('script:not([src]), img, iframe, [onerror], [onload], a[href^="javascript" i], a[href^="data" i]')].map((e) => e.outerHTML)`
	for _, html := range webtest.Ask[[]string](u.Tab, made) {
		t.Errorf("%s: a user's text may have become this element: %s", where, html)
	}
}

// mustShow scrolls through the room, and fails the test for each text that is not shown as it was sent.
func mustShow(t *testing.T, u *browserUser, texts []string) {
	t.Helper()
	shown := webtest.Ask[string](u.Tab, `(async () => {
		const box = document.querySelector('.timeline-box'), found = new Set();
		for (box.scrollTop = box.scrollHeight; ; box.scrollTop -= 300) {
			await new Promise((r) => requestAnimationFrame(() => setTimeout(r, 60)));
			for (const e of document.querySelectorAll('.text')) found.add(e.textContent);
			if (box.scrollTop === 0) break;
		}
		box.scrollTop = box.scrollHeight;
		return [...found].join('\n');
	})()`)
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			t.Errorf("the room does not show %q as it was sent", text)
		}
	}
}
