package web

import (
	"testing"

	"hongbao/chat"
)

// TestEntriesThatWait: what somebody waits for leaves at once.
func TestEntriesThatWait(t *testing.T) {
	for kind, late := range map[chat.EntryKind]bool{
		chat.KindText: false, chat.KindPacket: false, chat.KindMember: false, chat.KindEdit: false, chat.KindRecall: false,
		chat.KindRoom: false, chat.KindReact: true, chat.KindPacketDone: true,
	} {
		if got := entryMessage(chat.Entry{Kind: kind, Seq: 7, Body: []byte("{}")}); got.Late != late || got.Seq != 7 {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}
