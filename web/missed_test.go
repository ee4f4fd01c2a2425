package web

import (
	"testing"

	"github.com/centrifugal/protocol"

	"hongbao/web/user/push"
	"hongbao/web/wire"
)

// TestBackAfterAFinalEntryWithLostSignals kicks a user and invites them again. Only the entries reach the other instance: the one of the kick ends the
// subscription there. When the instance notices the loss, it must subscribe the user's socket again.
func TestBackAfterAFinalEntryWithLostSignals(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b, bus := twoInstancesFilteredBus(t)
		ann := a.signIn(t, "ann", 0)
		a.signIn(t, "bob", 0)
		his, _ := connected(t, b.listen(t), wire.JSON, "bob")
		room := call[wire.CreateRoomReply](t, a, ann, "create_room", wire.CreateRoomRequest{Key: "k", Name: "n", Kind: "public", Members: []string{"bob"}}).Room.ID
		his.push(isSubscribe)
		bus.pick(func(topic string, _ []byte) bool { return topic != push.RoomTopic(room) }, nil)
		call[wire.KickReply](t, a, ann, "kick", wire.KickRequest{Room: room, User: "bob"})
		his.entries(room, 1, 1)
		call[wire.InviteReply](t, a, ann, "invite", wire.InviteRequest{Room: room, Users: []string{"bob"}})
		b.sessions.BusLost(true)
		b.sessions.BusLost(false) // the bus reports the loss
		at := int64(his.push(isSubscribe).Subscribe.Offset)
		if at != 2 {
			t.Errorf("back at %d, want 2", at)
		}
		his.entries(room, 3, a.say(t, ann, room, "for all").Seq)
	})
}

// TestKickedWhileConnectingElsewhere kicks a user after the connect command has listed the user's rooms, and loses every message of the bus about it. The
// socket of another member already knows the room's newer entry, so the connect command must read the standing again.
func TestKickedWhileConnectingElsewhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b, bus := twoInstancesFilteredBus(t)
		ann := a.signIn(t, "ann", 0)
		a.signIn(t, "bob", 0)
		a.signIn(t, "carol", 0)
		room := call[wire.CreateRoomReply](t, a, ann, "create_room", wire.CreateRoomRequest{Key: "k", Name: "n", Kind: "public", Members: []string{"bob", "carol"}}).Room.ID
		addr := b.listen(t)
		his := dial(t, addr, wire.JSON)
		bus.pick(func(string, []byte) bool { return true }, nil)
		b.store.whenListed("bob", func() {
			call[wire.KickReply](t, a, ann, "kick", wire.KickRequest{Room: room, User: "bob", Ban: true})
			connected(t, addr, wire.JSON, "carol")
		})
		his.send(`{"id":1,"connect":{"token":"` + goodToken(t, "bob") + `"}}`)
		r := his.next()
		if r.Connect == nil || len(r.Connect.Subs) > 0 {
			t.Fatalf("the reply %v of a banned user subscribes to %v", r, subsOf(r.Connect))
		}
		if n := b.hub.Listeners(push.RoomTopic(room)); n != 1 {
			t.Errorf("%d sockets are in the room, want that of carol", n)
		}
	})
}

func subsOf(r *protocol.ConnectResult) map[string]*protocol.SubscribeResult {
	if r == nil {
		return nil
	}
	return r.Subs
}
