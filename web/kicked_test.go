package web

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/centrifugal/protocol"

	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// TestKickedUserGetsNoMoreEntries kicks a user. The last entry that they receive must be the one that records the kick,
// on every instance. This must hold if the bus loses that entry or delays the signal.
func TestKickedUserGetsNoMoreEntries(t *testing.T) {
	t.Parallel()
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
				a, b, bus := twoInstancesFilteredBus(t)
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

				inRoom := func(topic string) bool { return topic == push.RoomTopic(room) }
				bus.pick(
					func(topic string, payload []byte) bool {
						return test.gap && inRoom(topic) && strings.Contains(string(payload), `"member"`)
					},
					func(topic string, _ []byte) bool { return test.late && topic == push.UserTopic("bob") },
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
					t.Errorf("last entry of the kicked user: %s", got)
				}
				hers.entries(room, 1, 5) // by now all messages have arrived at that instance
				if test.late {
					b.eventually(t, "the word is on its way", func() bool { return bus.holding() > 0 })
				}
				bus.release()
				his.mustLeave(room, reason)
				// A user that was kicked without a ban may join again, and must receive later entries.
				if test.ban {
					call[wire.UnbanReply](t, a, ann, "unban", wire.UnbanRequest{Room: room, User: "bob"})
				}
				if reason == "left" {
					call[wire.JoinReply](t, a, bob, "join", wire.JoinRequest{Room: room})
				} else {
					call[wire.InviteReply](t, a, ann, "invite", wire.InviteRequest{Room: room, Users: []string{"bob"}})
				}
				at := int64(his.push(isSubscribe).Subscribe.Offset)
				if at != 5 && at != 6 { // the entry may arrive before the signal
					t.Errorf("back at %d", at)
				}
				his.entries(room, at+1, a.say(t, ann, room, "for all").Seq)
			})
		})
	}
}

// TestKickedAndBackAtOnce kicks a user and invites them again. The user must be in the room and miss nothing, even if
// both signals arrive at once and in the wrong order.
func TestKickedAndBackAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b, bus := twoInstancesFilteredBus(t, withStandingTime)
		ann := a.signIn(t, "ann", 0)
		a.signIn(t, "bob", 0)
		his, _ := connected(t, b.listen(t), wire.JSON, "bob")
		room := call[wire.CreateRoomReply](t, a, ann, "create_room", wire.CreateRoomRequest{Key: "k", Name: "n", Kind: "public", Members: []string{"bob"}}).Room.ID
		his.push(isSubscribe)

		bus.pick(nil, func(topic string, _ []byte) bool { return topic == push.UserTopic("bob") })
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
	})
}

// TestOutdatedSignalsWhileTheStoreFails sends outdated signals of another instance while standings cannot be read. A user that has come back
// since a kick must stay in the room, and a user that was kicked since an invitation must not enter it.
func TestOutdatedSignalsWhileTheStoreFails(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		const within = time.Millisecond
		s := newTestServer(t, func(o *Options) { o.StandingWithin = within })
		ann, bob := s.signIn(t, "ann", 0), s.signIn(t, "bob", 0)
		room := call[wire.CreateRoomReply](t, s, ann, "create_room", wire.CreateRoomRequest{Key: "k", Name: "n", Kind: "public", Members: []string{"bob"}}).Room.ID
		kick := func() { call[wire.KickReply](t, s, ann, "kick", wire.KickRequest{Room: room, User: "bob"}) }
		kick() // entry 1
		m, err := s.silentChat().Join(t.Context(), bob.User, room)
		if err != nil {
			t.Fatal(err)
		}
		connected(t, s.listen(t), wire.JSON, "bob")
		session := s.sessionOf("bob")
		outdated := func(sig push.Signal, listeners int) {
			t.Helper()
			free := make(chan struct{})
			s.store.holdStanding(free)
			defer close(free)
			sig.By = "another instance"
			session.Signal("", sig.Encode())
			time.Sleep(5 * within) // sleeps: in a bubble; the read of the standing has failed
			if n := s.hub.Listeners(push.RoomTopic(room)); n != listeners {
				t.Errorf("after an outdated signal %+v, %d sockets are in the room, want %d", sig, n, listeners)
			}
		}
		outdated(push.Signal{Room: room, Reason: "kicked", Through: 1}, 1)
		kick()
		outdated(push.EnteredSignal(m), 0)
	})
}

// TestKickedAndBackWithLostSignals loses the signals of a kick and of the return. When the server notices the loss, the
// user's sockets must be in the right rooms.
func TestKickedAndBackWithLostSignals(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b, bus := twoInstancesLossyBus(t, func(o *Options) { o.Alone = true })
		ann := a.signIn(t, "ann", 0)
		a.signIn(t, "bob", 0)
		his, _ := connected(t, b.listen(t), wire.JSON, "bob")
		var rooms []string
		for i := range 3 {
			request := wire.CreateRoomRequest{Key: fmt.Sprint("k", i), Name: "n", Kind: "public", Members: []string{"bob"}}
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
	})
}

// TestKickedElsewhereWhileInvitedHere invites a user on one instance, and has another kick the user before the first has signalled the
// invitation. The user's socket must get no later entry of the room.
func TestKickedElsewhereWhileInvitedHere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b := twoInstances(t)
		ann, carol := a.signIn(t, "ann", 0), a.signIn(t, "carol", 0)
		a.signIn(t, "bob", 0)
		room := a.room(t, ann, "hall").ID
		call[wire.JoinReply](t, a, carol, "join", wire.JoinRequest{Room: room})
		addr := a.listen(t)
		member, _ := connected(t, addr, wire.JSON, "carol")
		kicked, _ := connected(t, addr, wire.JSON, "bob")
		a.store.whenStood("bob", func() {
			call[wire.KickReply](t, b, ann, "kick", wire.KickRequest{Room: room, User: "bob"})
			secret := b.say(t, ann, room, "secret")
			member.push(func(p *protocol.Push) bool { return p.Pub != nil && p.Pub.Offset == uint64(secret.Seq) })
		})
		call[wire.InviteReply](t, a, ann, "invite", wire.InviteRequest{Room: room, Users: []string{"bob"}})
		a.say(t, ann, room, "secret, too")
		kicked.send(`{"id":9,"rpc":{"method":"wallet","data":{}}}`)
		for r := kicked.next(); r.Id != 9; r = kicked.next() {
			if r.Push != nil && r.Push.Pub != nil {
				t.Errorf("a kicked user got %s", r.Push.Pub.Data)
			}
		}
		if n := a.hub.Listeners(push.RoomTopic(room)); n != 1 {
			t.Errorf("%d sockets are in the room, want that of carol", n)
		}
	})
}

// TestLeftAndBackWhileConnecting has a user leave and enter a room while the connect command runs. The connect reply lists the room, so
// nothing about it may follow.
func TestLeftAndBackWhileConnecting(t *testing.T) {
	t.Parallel()
	s := newTestServer(t)
	bob, ann := s.signIn(t, "bob", 0), s.signIn(t, "ann", 0)
	room := s.room(t, bob, "hall").ID
	call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room})
	c := dial(t, s.listen(t), wire.JSON)
	s.store.whenListed("ann", func() {
		call[wire.LeaveReply](t, s, ann, "leave", wire.LeaveRequest{Room: room})
		call[wire.JoinReply](t, s, ann, "join", wire.JoinRequest{Room: room})
	})
	c.send(`{"id":1,"connect":{"token":"` + goodToken(t, "ann") + `"}}`)
	if r := c.next(); r.Connect == nil || len(r.Connect.Subs) != 1 {
		t.Fatalf("first came %v", r)
	}
	said := s.say(t, bob, room, "then")
	for p := c.next().Push; p == nil || p.Pub == nil || p.Pub.Offset != uint64(said.Seq); p = c.next().Push {
		if p != nil && (isSubscribe(p) || isUnsubscribe(p) || p.Message != nil && messageOf(t, p).Left != nil) {
			t.Errorf("behind the connect reply came %v", p)
		}
	}
}
