package web

import (
	"fmt"
	"strings"
	"testing"

	"hongbao/web/wire"
)

// Whoever is put out of a room hears as its last entry that he is, on every instance: whether the bus loses that entry,
// or brings the word of it late, or both.
func TestKickedHearsNoMore(t *testing.T) {
	for _, test := range []struct {
		name       string
		gap, late  bool
		ban, leave bool
	}{
		{name: "kicked"}, {name: "kicked, gap", gap: true}, {name: "kicked, late word", late: true},
		{name: "banned, gap, late word", gap: true, late: true, ban: true},
		{name: "left, gap, late word", gap: true, late: true, leave: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bothEncodings(t, func(t *testing.T, e wire.Encoding) {
				a, b, bus := pickyPair(t)
				ann, bob := a.signIn(t, "ann", 0), a.signIn(t, "bob", 0)
				a.signIn(t, "eve", 0)
				addr := b.listen(t)
				his, _ := connected(t, addr, e, "bob")
				hers, _ := connected(t, addr, e, "eve")
				room := call[wire.CreateRoomReply](t, a, ann, "create_room", wire.CreateRoomRequest{
					Key: "k", Name: "n", Kind: "private", Members: []string{"bob", "eve"},
				}).Room.ID
				his.push(isSubscribe)
				hers.push(isSubscribe)
				a.say(t, ann, room, "for all")
				his.entries(room, 1, 1)

				inRoom := func(topic string) bool { return topic == roomTopic(room) }
				bus.pick(
					func(topic string, payload []byte) bool {
						return test.gap && inRoom(topic) && strings.Contains(string(payload), `"member"`)
					},
					func(topic string, _ []byte) bool { return test.late && topic == userTopic("bob") },
				)
				reason := "kicked"
				switch {
				case test.leave:
					reason = "left"
					call[wire.LeaveReply](t, a, bob, "leave", wire.LeaveRequest{Room: room})
				case test.ban:
					reason = "banned"
					fallthrough
				default:
					call[wire.KickReply](t, a, ann, "kick", wire.KickRequest{Room: room, User: "bob", Ban: test.ban})
				}
				for range 3 {
					a.say(t, ann, room, "not for him")
				}
				a.chat.Typing(t.Context(), ann.User, room)
				if got := his.entries(room, 2, 2); !strings.Contains(got[0], `"user":"bob"`) {
					t.Errorf("his last entry: %s", got)
				}
				hers.entries(room, 1, 5) // by now all has come to that instance
				if test.late {
					b.eventually(t, "the word is on its way", func() bool { return bus.holding() > 0 })
				}
				bus.release()
				his.mustLeave(room, reason)
				// He may come back, and hears what is said then.
				if test.ban {
					call[wire.UnbanReply](t, a, ann, "unban", wire.UnbanRequest{Room: room, User: "bob"})
				}
				call[wire.InviteReply](t, a, ann, "invite", wire.InviteRequest{Room: room, Users: []string{"bob"}})
				at := int64(his.push(isSubscribe).Subscribe.Offset)
				if at != 5 && at != 6 { // the entry that says so may be there before the word
					t.Errorf("back at %d", at)
				}
				his.entries(room, at+1, a.say(t, ann, room, "for all").Seq)
			})
		})
	}
}

// One who is put out and taken back, and hears of both at once and crosswise, is in the room and misses nothing.
func TestKickedAndBackAtOnce(t *testing.T) {
	a, b, bus := pickyPair(t)
	ann := a.signIn(t, "ann", 0)
	a.signIn(t, "bob", 0)
	his, _ := connected(t, b.listen(t), wire.JSON, "bob")
	room := call[wire.CreateRoomReply](t, a, ann, "create_room", wire.CreateRoomRequest{Key: "k", Name: "n", Members: []string{"bob"}}).Room.ID
	his.push(isSubscribe)

	bus.pick(nil, func(topic string, _ []byte) bool { return topic == userTopic("bob") })
	call[wire.KickReply](t, a, ann, "kick", wire.KickRequest{Room: room, User: "bob"})
	a.say(t, ann, room, "not for him")
	his.entries(room, 1, 1)
	call[wire.InviteReply](t, a, ann, "invite", wire.InviteRequest{Room: room, Users: []string{"bob"}})
	b.eventually(t, "both words are on their way", func() bool { return bus.holding() >= 2 })
	bus.mu.Lock()
	for i, j := 0, len(bus.held)-1; i < j; i, j = i+1, j-1 {
		bus.held[i], bus.held[j] = bus.held[j], bus.held[i]
	}
	bus.mu.Unlock()
	bus.release()
	his.mustLeave(room, "left")
	at := int64(his.push(isSubscribe).Subscribe.Offset)
	if at != 2 && at != 3 {
		t.Errorf("back at %d", at)
	}
	his.entries(room, at+1, a.say(t, ann, room, "for all").Seq)
}

// One whom the words have not reached at all, neither that he is out nor that he is back, is where he should be once the
// loss is noticed.
func TestKickedAndBackUnheard(t *testing.T) {
	a, b, bus := deafPair(t, func(o *Options) { o.Alone = true })
	ann := a.signIn(t, "ann", 0)
	a.signIn(t, "bob", 0)
	his, _ := connected(t, b.listen(t), wire.JSON, "bob")
	var rooms []string
	for i := range 3 {
		request := wire.CreateRoomRequest{Key: fmt.Sprint("k", i), Name: "n", Members: []string{"bob"}}
		rooms = append(rooms, call[wire.CreateRoomReply](t, a, ann, "create_room", request).Room.ID)
		his.push(isSubscribe)
	}
	bus.loses.Store(true)
	for i, ban := range []bool{false, true} {
		call[wire.KickReply](t, a, ann, "kick", wire.KickRequest{Room: rooms[i], User: "bob", Ban: ban})
	}
	call[wire.InviteReply](t, a, ann, "invite", wire.InviteRequest{Room: rooms[0], Users: []string{"bob"}})
	call[wire.DeleteRoomReply](t, a, ann, "delete_room", wire.DeleteRoomRequest{Room: rooms[2]})
	bus.loses.Store(false)
	bus.suspect()
	why := map[string]string{}
	for why[rooms[1]] == "" || why[rooms[2]] == "" {
		p := his.push(isUnsubscribe)
		why[strings.TrimPrefix(p.Channel, "room:")] = p.Unsubscribe.Reason
	}
	if why[rooms[1]] != "banned" || why[rooms[2]] != "deleted" {
		t.Errorf("out of %v", why)
	}
	said := a.say(t, ann, rooms[0], "for all")
	for {
		p := his.push(isPub)
		if p.Channel != "room:"+rooms[0] {
			t.Errorf("a publication of %s", p.Channel)
		}
		if int64(p.Pub.Offset) == said.Seq {
			break
		}
	}
}
