package main

import "fmt"

// place is a screen of the page.
type place struct {
	name, hash string
	sees       string // when it is there
	role       string // of what is pressed then
	press      string
}

// places are the main screens, each of which can be gone to.
func (h *household) places() []place {
	room := "#/room/" + h.room
	in := h.in
	return []place{
		{name: "rooms", hash: "#/", sees: in.other},
		{name: "room", hash: room, sees: in.open},
		{name: "compose", hash: room + "/compose", sees: in.total},
		{name: "compose more", hash: room + "/compose", sees: in.total, role: "DisclosureTriangle", press: in.more},
		{name: "envelope", hash: room + "/packet/" + h.open, sees: in.look},
		{name: "locked envelope", hash: room + "/packet/" + h.locked, sees: in.look},
		{name: "packet", hash: room + "/packet/" + h.finished, sees: in.verify},
		{name: "wallet", hash: room + "/wallet", sees: in.gift},
		{name: "my packets", hash: room + "/packets", sees: in.finished},
		{name: "about the room", hash: room + "/info", sees: in.leave},
		{name: "person", hash: room + "/person/" + h.friends[0].User.ID, sees: in.talk},
		{name: "message", hash: room + "/message/" + fmt.Sprint(h.seq), sees: in.reply},
		{name: "invite", hash: room + "/invite", sees: in.who},
		{name: "settings", hash: room + "/settings", sees: in.signOut},
		{name: "new room", hash: "#/new-room", sees: in.make},
		{name: "find", hash: "#/find", sees: in.public},
		{name: "direct", hash: "#/direct", sees: "guest:"},
	}
}

// at is a visitor who has gone to a place, and sees it.
func (v *visitor) at(p place) {
	v.salon.t.Helper()
	v.goes(p.hash)
	v.Sees(p.sees)
	if p.press != "" {
		v.Press(p.role, p.press)
	}
	v.Rest()
}
