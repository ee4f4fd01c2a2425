package web

import (
	"encoding/json"
	"testing"

	"hongbao/chat"
	"hongbao/web/user/api"
	"hongbao/web/wire"
)

// TestRoomWithoutPackets has the owner switch packets off. Plain members cannot. Packets are refused, texts and grabs go on, and the
// host and the owner can switch packets on again.
func TestRoomWithoutPackets(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		a, b := twoInstances(t)
		ann, bob := a.signIn(t, "ann", 120), a.signIn(t, "bob", 0)
		room := a.room(t, ann, "hall").ID
		call[wire.JoinReply](t, a, bob, "join", wire.JoinRequest{Room: room})
		packet := call[wire.SendPacketReply](t, a, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "p", Total: 100, Count: new(2), Mode: "equal"}).Packet.ID
		refused := func(user api.Caller, method string, data any, want string) {
			t.Helper()
			text, err := json.Marshal(data)
			noError(t, err)
			_, err = b.Call(t.Context(), user, method, text)
			if f := b.Failure(err); f.Message != want {
				t.Errorf("%s: %+v, want %s", method, f, want)
			}
		}
		off := wire.UpdateRoomRequest{Room: room, Packets: new(false)}
		refused(bob, "update_room", off, "forbidden")
		if r := call[wire.UpdateRoomReply](t, a, ann, "update_room", off).Room; r.Packets == nil || *r.Packets {
			t.Errorf("the room is %+v, want it without packets", r)
		}
		refused(ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "q", Total: 10, Count: new(1)}, "forbidden field=packets")
		if got := call[wire.WalletReply](t, a, ann, "wallet", wire.WalletRequest{}).Balance; got != 20 {
			t.Errorf("ann has %d after a refused packet, want 20", got)
		}
		call[wire.SendReply](t, a, bob, "send", wire.SendRequest{Room: room, Key: "k", Text: "hello"})
		if g := call[wire.GrabReply](t, b, bob, "grab", wire.GrabRequest{Packet: packet}); g.Amount != 50 {
			t.Errorf("bob's grab: %+v", g)
		}
		if r := call[wire.RoomsReply](t, a, bob, "rooms", wire.RoomsRequest{}).Rooms; len(r) != 1 || r[0].Packets == nil || *r[0].Packets {
			t.Errorf("bob's rooms are %+v, want one without packets", r)
		}
		if _, err := a.chat.UpdateRoom(t.Context(), chat.System, room, chat.RoomChange{Packets: new(true)}); err != nil {
			t.Fatal(err)
		}
		call[wire.SendPacketReply](t, a, ann, "send_packet", wire.SendPacketRequest{Room: room, Key: "q", Total: 10, Count: new(1)})
		made := call[wire.CreateRoomReply](t, a, ann, "create_room", wire.CreateRoomRequest{Key: "quiet", Name: "quiet", Packets: new(false)}).Room
		refused(ann, "send_packet", wire.SendPacketRequest{Room: made.ID, Key: "r", Total: 10, Count: new(1)}, "forbidden field=packets")
	})
}
