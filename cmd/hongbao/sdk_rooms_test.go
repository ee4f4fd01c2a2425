package main

import (
	"encoding/json"
	"fmt"

	"hongbao/web/wire"
)

// invited: who is put into a room is in it before he hears the first thing said there, with all of his clients.
func (s *stage) invited() {
	s.room("bob", "public") // so that he is known
	room := s.room("ann", "private")
	s.say("ann", room, "before")
	bob, phone := s.connected("bob"), s.connected("bob")
	s.command("ann", "invite", wire.InviteRequest{Room: room, Users: []string{"bob"}})
	s.say("ann", room, "after")
	for _, p := range []*person{bob, phone} {
		p.awaits(1, "entry", room, 3)
		p.mustEnd(room, "in "+room, fmt.Sprint("entry ", room, " 2"), fmt.Sprint("entry ", room, " 3"))
		p.mu.Lock()
		if got := p.joined[room]; got.ID != room || got.Kind != "private" || got.Role != "member" {
			s.t.Errorf("he was told of %+v", got)
		}
		p.mu.Unlock()
		p.mustBeExact(room)
	}
	direct := replyOf[wire.DirectReply](bob, "direct", wire.DirectRequest{User: "ann"}).Room.ID
	phone.awaits(1, "in", direct)
}

// outOfRooms: who is out of a room is told why, then that he is out, and hears nothing of it any more. A kicked one's last
// entry is his own.
func (s *stage) outOfRooms() {
	rooms := map[string]string{}
	for _, reason := range []string{"left", "kicked", "banned", "deleted"} {
		rooms[reason] = s.room("ann", "public", "bob")
	}
	bob := s.connected("bob")
	bob.must("leave", wire.LeaveRequest{Room: rooms["left"]})
	s.command("ann", "kick", wire.KickRequest{Room: rooms["kicked"], User: "bob"})
	s.command("ann", "kick", wire.KickRequest{Room: rooms["banned"], User: "bob", Ban: true})
	s.command("ann", "delete_room", wire.DeleteRoomRequest{Room: rooms["deleted"]})
	for reason, room := range rooms {
		bob.awaits(1, "out", room)
		if reason != "deleted" {
			s.say("ann", room, "unheard")
		}
	}
	bob.must("wallet", wire.WalletRequest{})
	for reason, room := range rooms {
		goodbye := []string{fmt.Sprint("left ", room, " ", reason), "out " + room}
		if reason == "kicked" || reason == "banned" {
			bob.mustEnd(room, append([]string{fmt.Sprint("entry ", room, " 1")}, goodbye...)...)
			bob.mustHaveBeen(room, reason)
			continue
		}
		bob.mustEnd(room, goodbye...)
	}
}

// mustHaveBeen checks that the last entry says what became of the person.
func (p *person) mustHaveBeen(room, change string) {
	p.t.Helper()
	last := p.newest(room)
	var body wire.MemberBody
	if err := json.Unmarshal(last.Body, &body); err != nil || last.Kind != "member" || body.User != p.name || body.Change != change {
		p.t.Errorf("%s heard at last %s %s, %v; want that he was %s", p.name, last.Kind, last.Body, err, change)
	}
}

// outWhileAway: who is put out of a room while he is away is out of it when he is back.
func (s *stage) outWhileAway() {
	room, other := s.room("ann", "public", "bob"), s.room("ann", "public", "bob")
	bob := s.connected("bob")
	s.away()
	s.command("ann", "kick", wire.KickRequest{Room: room, User: "bob"})
	s.say("ann", other, "missed")
	s.back()
	bob.awaits(1, "out", room)
	bob.awaits(1, "entry", other, 1)
	bob.mustNot("entry", room, 1)
	bob.mustNot("in", room, "recovered")
	bob.mustBeExact(other)
	bob.mu.Lock()
	defer bob.mu.Unlock()
	if rooms := bob.welcome.Rooms; len(rooms) != 1 || rooms[0].ID != other {
		s.t.Errorf("he is told that he is in %+v", rooms)
	}
}
