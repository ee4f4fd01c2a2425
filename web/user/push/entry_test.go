package push

import (
	"testing"

	"hongbao/chat"
)

// TestDeferrableEntries checks each kind of entry: only those that no user waits for may be delayed.
func TestDeferrableEntries(t *testing.T) {
	for kind, deferred := range map[chat.EntryKind]bool{
		chat.KindText: false, chat.KindPacket: false, chat.KindMember: false, chat.KindEdit: false, chat.KindRecall: false,
		chat.KindRoom: false, chat.KindReact: true, chat.KindPacketDone: true,
	} {
		if got := entryMessage(chat.Entry{Kind: kind, Seq: 7, Body: []byte("{}")}); got.Deferred != deferred || got.Seq != 7 {
			t.Errorf("%s: got %+v, want Seq 7, Deferred %t", kind, got, deferred)
		}
	}
}
