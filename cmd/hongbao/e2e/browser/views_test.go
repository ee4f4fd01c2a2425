package browser

import (
	"fmt"

	"hongbao/web/webtest"
)

// view is one screenful of the page with an address of its own.
type view struct {
	name, hash string
	shows      string // text that is visible when the view has loaded
	role       string // role of the element to press then
	press      string // name of that element; empty: none is pressed
	fill, text string // name of a field, and what is typed there; empty: nothing is typed
	finds      string // text that is visible then
}

// views returns the main views.
func (s *sample) views() []view {
	room := "#/room/" + s.room
	in := s.in
	return []view{
		{name: "rooms", hash: "#/", shows: in.other},
		{name: "room", hash: room, shows: in.open},
		{name: "compose", hash: room + "/compose", shows: in.total},
		{name: "compose more", hash: room + "/compose", shows: in.total, role: "DisclosureTriangle", press: in.more},
		{name: "envelope", hash: room + "/packet/" + s.open, shows: in.look},
		{name: "locked envelope", hash: room + "/packet/" + s.locked, shows: in.look},
		{name: "packet", hash: room + "/packet/" + s.finished, shows: in.verify},
		{name: "wallet", hash: room + "/wallet", shows: in.gift},
		{name: "my packets", hash: room + "/packets", shows: in.finished},
		{name: "about the room", hash: room + "/info", shows: in.leave},
		{name: "rules", hash: room + "/rules", shows: in.saveRules},
		{name: "reports", hash: room + "/reports", shows: in.reported},
		{name: "mentions", hash: room + "/mentions", shows: in.talkLines[5]},
		{name: "search", hash: "#/search", shows: in.search, fill: in.wanted, text: in.soup, finds: in.talkLines[3]},
		{name: "search in the room", hash: room + "/search-room", shows: in.room, fill: in.wanted, text: in.soup, finds: in.talkLines[3]},
		{name: "search, senders", hash: room + "/search-room", shows: in.room, role: "button", press: in.sender, fill: in.wanted, text: in.soup, finds: in.talkLines[3]},
		{name: "search, dates", hash: "#/search", shows: in.search, role: "button", press: in.date, fill: in.wanted, text: in.soup, finds: in.talkLines[3]},
		{name: "files", hash: "#/room/" + s.private, shows: in.document},
		{name: "media", hash: "#/room/" + s.private + "/media", shows: in.allMedia},
		{name: "viewer", hash: "#/room/" + s.private + "/view/" + s.picture, shows: in.second},
		{name: "person", hash: room + "/person/" + s.friends[0].User.ID, shows: in.talk},
		{name: "message", hash: room + "/message/" + fmt.Sprint(s.seq), shows: in.reply},
		{name: "invite", hash: room + "/invite", shows: in.nameOrID},
		{name: "invite links", hash: room + "/links", shows: in.working},
		{name: "invite link", hash: room + "/links", shows: in.working, role: "DisclosureTriangle", press: in.working},
		{name: "keys", hash: "#/keys", shows: in.keys},
		{name: "settings", hash: room + "/settings", shows: in.signOut},
		{name: "new room", hash: "#/new-room", shows: in.make},
		{name: "find", hash: "#/find", shows: in.public},
		{name: "direct", hash: "#/direct", shows: in.people[0]},
	}
}

// goToView opens a view and waits until it is there. It closes the banner of news in other rooms, which would cover a part of the view.
func (u *browserUser) goToView(v view) {
	u.fixture.t.Helper()
	u.goTo(v.hash)
	u.Sees(v.shows)
	webtest.Ask[bool](u.Tab, `document.querySelector('.news > .button')?.click(), true`)
	if v.press != "" {
		u.Press(v.role, v.press)
	}
	if v.fill != "" {
		u.Fill(v.fill, v.text)
		u.Sees(v.finds)
	}
	u.WaitForAnimations()
}
