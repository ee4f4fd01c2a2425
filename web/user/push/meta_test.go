package push

import (
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

// TestMetaIsTheSameOnEveryInstance compares the Meta of a message where it is published, where it is received from the
// bus, and where it is read from the store. All must be equal.
func TestMetaIsTheSameOnEveryInstance(t *testing.T) {
	for kind, body := range map[chat.EntryKind]any{
		chat.KindText: wire.TextBody{Text: "text"}, chat.KindReact: chat.Reaction{Target: 3, Emoji: "x"},
		chat.KindEdit: chat.Edit{Target: 3, Text: "text"}, chat.KindRecall: chat.Recall{Target: 3},
		chat.KindPacket: wire.Packet{ID: "p"}, chat.KindPacketDone: wire.PacketDoneBody{Packet: "p"},
	} {
		m := entryMessage(chat.Entry{Seq: 9, Kind: kind, Body: marshal(body)})
		if got := Decode("room:r", m.Seq, m.Data); got != m.Meta {
			t.Errorf("%s: Meta %+v where it is received, %+v where it is published", kind, got, m.Meta)
		}
		if plain := kind == chat.KindText || kind == chat.KindReact; plain != (m.Meta == nil) {
			t.Errorf("%s: Meta %+v", kind, m.Meta)
		}
	}
	for _, e := range []chat.Event{redpacket.Progress{Packet: "p", Room: "r", Claimed: 3, Count: 5}, chat.Typed{Room: "r", User: "u"}} {
		if got, want := Decode("room:r", 0, messageOf(e)), eventMeta(e); got != want {
			t.Errorf("%s: Meta %+v where it is received, %+v where it is published", e.EventName(), got, want)
		}
	}
}
