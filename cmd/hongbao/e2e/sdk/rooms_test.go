package sdk

import (
	"encoding/json"
	"fmt"

	"hongbao/web/wire"
)

// invited: all clients of an invited user are subscribed before the first later entry.
func (f *fixture) invited() {
	f.room("bob", "public") // makes bob known
	room := f.room("ann", "private")
	f.say("ann", room, "before")
	bob, phone := f.connect("bob"), f.connect("bob")
	f.command("ann", "invite", wire.InviteRequest{Room: room, Users: []string{"bob"}})
	f.say("ann", room, "after")
	for _, u := range []*user{bob, phone} {
		u.await(1, "entry", room, 3)
		u.mustEndWith(room, "subscribed "+room, fmt.Sprint("entry ", room, " 2"), fmt.Sprint("entry ", room, " 3"))
		u.mu.Lock()
		if got := u.joined[room]; got.ID != room || got.Kind != "private" || got.Role != "member" {
			f.t.Errorf("the subscription carries %+v, want room %s, private, role member", got, room)
		}
		u.mu.Unlock()
		u.mustHaveAll(room)
	}
	direct := replyOf[wire.DirectReply](bob, "direct", wire.DirectRequest{User: "ann"}).Room.ID
	phone.await(1, "subscribed", direct)
}

// outOfRooms: a user that leaves, is kicked or banned, or whose room is deleted, receives the reason, then the end of the
// subscription, and no later entry. The last entry of a kicked user is the one about the kick.
func (f *fixture) outOfRooms() {
	rooms := map[string]string{}
	for _, reason := range []string{"left", "kicked", "banned", "deleted"} {
		rooms[reason] = f.room("ann", "public", "bob")
	}
	bob := f.connect("bob")
	bob.must("leave", wire.LeaveRequest{Room: rooms["left"]})
	f.command("ann", "kick", wire.KickRequest{Room: rooms["kicked"], User: "bob"})
	f.command("ann", "kick", wire.KickRequest{Room: rooms["banned"], User: "bob", Ban: true})
	f.command("ann", "delete_room", wire.DeleteRoomRequest{Room: rooms["deleted"]})
	for reason, room := range rooms {
		bob.await(1, "unsubscribed", room)
		if reason != "deleted" {
			f.say("ann", room, "unheard")
		}
	}
	bob.must("wallet", wire.WalletRequest{})
	for reason, room := range rooms {
		end := []string{fmt.Sprint("left ", room, " ", reason), "unsubscribed " + room}
		if reason == "kicked" || reason == "banned" {
			bob.mustEndWith(room, append([]string{fmt.Sprint("entry ", room, " 1")}, end...)...)
			bob.newestMustBe(room, reason)
			continue
		}
		bob.mustEndWith(room, end...)
	}
}

// newestMustBe fails the test unless the room's last entry says that the user was kicked or banned.
func (u *user) newestMustBe(room, change string) {
	u.t.Helper()
	last := u.newest(room)
	var body wire.MemberBody
	if err := json.Unmarshal(last.Body, &body); err != nil || last.Kind != "member" || body.User != u.name || body.Change != change {
		u.t.Errorf("the last entry for %s is %s %s (%v), want member with change %s", u.name, last.Kind, last.Body, err, change)
	}
}

// kickedWhileAway: a user is kicked while disconnected. After the reconnect the user must be out of the room.
func (f *fixture) kickedWhileAway() {
	room, other := f.room("ann", "public", "bob"), f.room("ann", "public", "bob")
	bob := f.connect("bob")
	f.cutOff()
	f.command("ann", "kick", wire.KickRequest{Room: room, User: "bob"})
	f.say("ann", other, "missed")
	f.restore()
	bob.await(1, "unsubscribed", room)
	bob.await(1, "entry", other, 1)
	bob.mustNotHave("entry", room, 1)
	bob.mustNotHave("subscribed", room, "recovered")
	bob.mustHaveAll(other)
	bob.mu.Lock()
	defer bob.mu.Unlock()
	if rooms := bob.welcome.Rooms; len(rooms) != 1 || rooms[0].ID != other {
		f.t.Errorf("the connect reply lists rooms %+v, want only %s", rooms, other)
	}
}
