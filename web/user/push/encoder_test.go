package push

import (
	"strconv"
	"testing"

	"hongbao/hub"
	"hongbao/web/wire"
)

// TestProgressNeverGoesBack encodes progress of a packet out of order, as several instances publish it. Lower progress,
// and progress after the packet's end, must be dropped.
func TestProgressNeverGoesBack(t *testing.T) {
	n := NewEncoder()
	progress := func(packet string, claimed int) hub.Message {
		return received(0, marshal(wire.Message{PacketProgress: &wire.ProgressPush{Packet: packet, Room: "r", Claimed: claimed, Count: 20}}))
	}
	text := received(1, []byte(`{"seq":1,"kind":"text","body":{"text":"\"kind\":\"packet_done\" p"}}`))
	done := received(2, []byte(`{"seq":2,"kind":"packet_done","body":{"packet":"p","reason":"drained"}}`))
	for i, test := range []struct {
		message hub.Message
		sent    bool
	}{
		{progress("p", 3), true}, {progress("p", 9), true}, {progress("p", 4), false}, {progress("q", 4), true}, {text, true},
		{progress("p", 9), true}, {progress("p", 10), true}, {done, true}, {progress("p", 11), false}, {progress("q", 5), true},
	} {
		for _, e := range []hub.Encoding{hub.JSON, hub.Protobuf} {
			if sent := len(n.Encode(e, "room:r", test.message)) > 0; sent != test.sent {
				t.Errorf("message %d: sent %t, want %t", i, sent, test.sent)
			}
		}
	}
	for i := range 3 * maxTracked {
		n.Encode(hub.JSON, "room:r", progress(strconv.Itoa(i), 1))
	}
	if len(n.latest)+len(n.previous) > 2*maxTracked {
		t.Errorf("%d packets are kept, want at most %d", len(n.latest)+len(n.previous), 2*maxTracked)
	}
}
