package web

import (
	"encoding/json"
	"testing"

	"hongbao/chat"
	"hongbao/web/wire"
)

// TestFrozenRoom freezes a room. Clients must be told, only the system may post, grabs must go on, and the packet must end.
func TestFrozenRoom(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b := twoInstances(t)
		ann, bob := a.signIn(t, "ann", 120), a.signIn(t, "bob", 0)
		room := a.room(t, ann, "hall").ID
		call[wire.JoinReply](t, a, bob, "join", wire.JoinRequest{Room: room})
		packet := call[wire.SendPacketReply](t, a, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "p", Total: 100, Count: new(2), Mode: "equal"}).Packet.ID
		call[wire.SendPacketReply](t, a, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "short", Total: 10, Count: new(1), TTLS: new(int64(15))})
		c, _ := connected(t, b.listen(t), wire.JSON, "bob")
		freeze := func(frozen bool) {
			t.Helper()
			if _, err := a.chat.UpdateRoom(t.Context(), chat.System, room, chat.RoomChange{Frozen: &frozen}); err != nil {
				t.Fatal(err)
			}
			var e wire.Entry
			for e.Kind != "room" {
				noError(t, json.Unmarshal(c.push(isPub).Pub.Data, &e))
			}
			var body wire.RoomBody
			if err := json.Unmarshal(e.Body, &body); err != nil || body.Frozen == nil || *body.Frozen != frozen || e.From.ID != chat.System.ID {
				t.Errorf("the entry %+v with %s, %v; want frozen %t by the system", e, e.Body, err, frozen)
			}
		}
		freeze(true)
		for method, data := range map[string]any{
			"send": wire.SendRequest{Room: room, Key: "k", Text: "hello"}, "send_packet": wire.SendPacketRequest{Room: room, Key: "q", Total: 10, Count: new(1)},
		} {
			text, err := json.Marshal(data)
			noError(t, err)
			_, err = a.Call(t.Context(), ann, method, text)
			if f := a.Failure(err); f.Message != "forbidden field=frozen" {
				t.Errorf("%s: %+v", method, f)
			}
		}
		if got := call[wire.WalletReply](t, a, ann, "wallet", wire.WalletRequest{}).Balance; got != 10 {
			t.Errorf("ann has %d after a refused packet, want 10", got)
		}
		if r := call[wire.RoomsReply](t, a, bob, "rooms", wire.RoomsRequest{}).Rooms; len(r) != 1 || !r[0].Frozen {
			t.Errorf("bob's rooms are %+v, want one that is frozen", r)
		}
		if g := call[wire.GrabReply](t, b, bob, "grab", wire.GrabRequest{Packet: packet}); g.Amount != 50 {
			t.Errorf("bob's grab: %+v", g)
		}
		if _, err := a.CallFor(t.Context(), chat.System, "", "send", []byte(`{"room":"`+room+`","key":"s","text":"frozen until noon"}`)); err != nil {
			t.Error(err)
		}
		a.eventually(t, "the end of the packet", func() bool {
			return call[wire.WalletReply](t, a, ann, "wallet", wire.WalletRequest{}).Balance == 20
		})
		freeze(false)
		a.say(t, ann, room, "hello again")
		c.push(isPub)
	})
}
