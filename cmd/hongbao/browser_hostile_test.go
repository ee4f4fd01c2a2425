package main

import (
	"strings"
	"testing"

	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// nasty are texts that have broken pages: markup that runs, turned writing, towers of accents, words without an end.
var nasty = []string{
	`<img src=x onerror="hacked=1">`,
	`<script>hacked=1</script>`,
	`"><svg onload=hacked=1>`,
	`javascript:hacked=1`,
	`{{constructor.constructor('hacked=1')()}}`,
	"\u202egnp.exe\u2066 turned \u2067around",
	"Z" + strings.Repeat("\u0352\u0353\u035a\u0330", 10) + "algo",
	strings.Repeat("👩‍👩‍👧‍👦🏴‍☠️", 4),
	strings.Repeat("W", 60),
	"שלום עולם " + strings.Repeat("مرحبا", 6),
}

// TestBrowserHostile: whatever people call themselves, their rooms and what they say, it is text, and stays in its place.
func TestBrowserHostile(t *testing.T) {
	t.Parallel()
	s := newSalon(t)
	ann := s.visits(webtest.Screen{Phone: true})
	ann.comesInAs(nasty[0])
	me := &afar{s, wire.GuestReply{Token: ann.token()}}
	room := does[wire.CreateRoomReply](me, "create_room", wire.CreateRoomRequest{Key: newKey(), Name: nasty[2]}).Room.ID
	announcement := strings.Join(nasty, "\n")
	does[rawReply](me, "update_room", wire.UpdateRoomRequest{Room: room, Announcement: &announcement})
	var first, packet string
	for i, text := range nasty {
		who := s.afar(text)
		who.joins(room)
		does[wire.SendReply](who, "send", wire.SendRequest{Room: room, Key: newKey(), Text: text + "\n" + strings.Repeat(text, 12), ReplyTo: int64(min(i, 1)), Mentions: []string{ann.id()}})
		packet = does[wire.SendPacketReply](who, "send_packet", wire.SendPacketRequest{Room: room, Key: newKey(), Total: 100, Count: new(2), Greeting: text}).Packet.ID
		does[wire.GrabReply](who, "grab", wire.GrabRequest{Packet: packet})
		does[wire.CreateRoomReply](who, "create_room", wire.CreateRoomRequest{Key: newKey(), Name: text, Members: []string{ann.id()}})
		first = who.User.ID
	}
	tom := s.afar("Tom")
	tom.joins(room)
	tom.says(room, "javascript:hacked=1 https://example.com/"+strings.Repeat("a", 300)+" data:text/html,<script>hacked=1</script>")

	for _, where := range []place{
		{name: "rooms", hash: "#/", sees: nasty[0]},
		{name: "room", hash: "#/room/" + room, sees: nasty[2]},
		{name: "about the room", hash: "#/room/" + room + "/info", sees: nasty[1]},
		{name: "person", hash: "#/room/" + room + "/person/" + first, sees: "Message privately"},
		{name: "message", hash: "#/room/" + room + "/message/3", sees: "Reply"},
		{name: "envelope", hash: "#/room/" + room + "/packet/" + packet, sees: "Look inside"},
		{name: "invite", hash: "#/room/" + room + "/invite", sees: "Everybody you’ve met"},
		{name: "wallet", hash: "#/room/" + room + "/wallet", sees: "A gift to begin with"},
		{name: "settings", hash: "#/room/" + room + "/settings", sees: nasty[0]},
	} {
		ann.at(where)
		mustFit(t, ann, where.name)
		mustBeText(t, ann, where.name)
	}
	ann.goes("#/room/" + room)
	ann.Sees("In reply to")
	mustShow(t, ann, nasty)

	if won := ann.opens("Red packet from " + nasty[8]); won == 0 {
		t.Error("the packet is empty")
	}
	mustFit(t, ann, "packet")
	mustBeText(t, ann, "packet")
	ann.Press("button", "Close")
	ann.says(announcement)
	ann.Lacks("image", "Being sent")
	mustFit(t, ann, "room, after one's own")
	mustBeText(t, ann, "room, after one's own")
}

// mustBeText wants nothing on the page to be anything that somebody has written.
func mustBeText(t *testing.T, v *visitor, where string) {
	t.Helper()
	if webtest.Ask[bool](v.Tab, `'hacked' in window`) {
		t.Errorf("%s: what somebody has written has run", where)
	}
	const made = `[...document.querySelectorAll('script:not([src]), img, iframe, [onerror], [onload], a[href^="javascript" i], a[href^="data" i]')].map((e) => e.outerHTML)`
	for _, html := range webtest.Ask[[]string](v.Tab, made) {
		t.Errorf("%s: on the page is %s", where, html)
	}
}

// mustShow wants each text to stand in the room as it was written, as one scrolls through it.
func mustShow(t *testing.T, v *visitor, texts []string) {
	t.Helper()
	shown := webtest.Ask[string](v.Tab, `(async () => {
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
			t.Errorf("%q does not stand in the room", text)
		}
	}
}
