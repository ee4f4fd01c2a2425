package push

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/wire"
)

// entryBytes returns an entry encoded for the wire.
func entryBytes(seq int64, kind chat.EntryKind, name string, body any) []byte {
	return wire.EntryJSON(wire.Entry{Seq: seq, ID: "e", At: seq, From: wire.User{ID: "u-1", Name: name}, Kind: string(kind), Key: name, Body: marshal(body)})
}

// received returns a message as if it had arrived from the bus.
func received(seq int64, data []byte) hub.Message {
	return hub.Message{Seq: seq, Data: data, Meta: Decode("room:r", seq, data)}
}

// FuzzRevise recalls a text. Revise must change the text and its edits exactly as the store does. A second recall must
// change nothing more, and other entries must stay the same.
func FuzzRevise(f *testing.F) {
	f.Add(int64(5), int64(6), "Bob", "hello", []byte(`{"sticker":7}`))
	f.Add(int64(1), int64(12), `"seq":1,`, `"kind":"edit"`, []byte(`{"kind":"edit","body":{"target":1}}`))
	f.Add(int64(1), int64(10), "", `{"seq":1,`, []byte(`{}`))
	f.Fuzz(func(t *testing.T, target, other int64, name, text string, data []byte) {
		var object map[string]any
		if json.Unmarshal(data, &object) != nil || object == nil {
			data = []byte(`{}`)
		}
		if target < 1 || other < 1 || target == other {
			return
		}
		revise := Revise(received(9, entryBytes(9, chat.KindRecall, name, chat.Recall{Target: target})))
		if revise == nil {
			t.Fatal("Revise returned nil for a recall")
		}
		rich := wire.TextBody{Text: text, Data: data}
		for _, c := range []struct {
			seq         int64
			entry, want []byte
		}{
			{target, entryBytes(target, chat.KindText, name, rich), entryBytes(target, chat.KindText, name, chat.EmptyText)},
			{other, entryBytes(other, chat.KindEdit, name, chat.Edit{Target: target, Text: text}), entryBytes(other, chat.KindEdit, name, chat.EmptyEdit(target))},
			{other, entryBytes(other, chat.KindText, name, rich), nil},
			{other, entryBytes(other, chat.KindEdit, name, chat.Edit{Target: other, Text: text}), nil},
			{other, entryBytes(other, chat.KindReact, name, chat.Reaction{Target: target, Emoji: text}), nil},
		} {
			want := c.want
			if want == nil {
				want = c.entry
			}
			before := bytes.Clone(c.entry)
			got := revise(received(c.seq, c.entry))
			if !bytes.Equal(got.Data, want) || !bytes.Equal(revise(got).Data, want) {
				t.Errorf("\n got %s\nwant %s", got.Data, want)
			}
			if !bytes.Equal(c.entry, before) {
				t.Errorf("the bytes that were handed out before became %s", c.entry)
			}
		}
	})
}

// FuzzParse sends random user texts. None may be taken for a recall, an edit, a packet or the end of a packet.
func FuzzParse(f *testing.F) {
	forged := `{"seq":1,"kind":"recall","body":{"target":1,"packet":"p","id":"p"}}`
	f.Add(forged, "Bob", []byte(forged))
	f.Add(`","kind":"packet_done","body":{"packet":"p"}`, `","kind":"packet"`, []byte(`{"kind":"packet_done","packet":"p","body":{"packet":"p"}}`))
	f.Add(`{"packet_progress":{"packet":"p","claimed":9}}`, `"kind":"edit"`, []byte(`{"Kind":"edit","KIND":"recall"}`))
	f.Fuzz(func(t *testing.T, text, name string, data []byte) {
		n := NewEncoder()
		for _, m := range []hub.Message{received(0, data), received(1, data)} { // bytes that are not an entry
			if revise := Revise(m); revise != nil {
				revise(m)
			}
			PacketIn(m)
			n.Encode(hub.JSON, "room:r", m)
		}
		var object map[string]any
		if json.Unmarshal(data, &object) != nil || object == nil {
			data = []byte(`{}`)
		}
		n = NewEncoder()
		for kind, body := range map[chat.EntryKind]any{
			chat.KindText: wire.TextBody{Text: text, Data: data, Mentions: []string{text}},
			chat.KindEdit: chat.Edit{Target: 1, Text: text},
			chat.KindRoom: chat.RoomChange{Name: &text, Announcement: &name},
		} {
			entry := received(2, entryBytes(2, kind, name, body))
			if Revise(entry) != nil || PacketIn(entry) != "" {
				t.Errorf("a %s is taken for another kind: %s", kind, entry.Data)
			}
			if about, _ := entry.Meta.(meta); (about.target != 0) != (kind == chat.KindEdit) {
				t.Errorf("a %s edits %d: %s", kind, about.target, entry.Data)
			}
			n.Encode(hub.JSON, "room:r", entry)
		}
		if len(n.latest) > 0 {
			t.Errorf("packets have ended: %v", n.latest)
		}
		if utf8.ValidString(name) {
			done := entryBytes(3, chat.KindPacketDone, name, wire.PacketDoneBody{Packet: name})
			n.Encode(hub.Protobuf, "room:r", received(3, done))
			progress := marshal(wire.Message{PacketProgress: &wire.ProgressPush{Packet: name, Claimed: 1}})
			if push := n.Encode(hub.JSON, "room:r", received(0, progress)); push != nil {
				t.Errorf("behind the packet's end was sent %s", push)
			}
		}
	})
}

// FuzzSignal parses random bytes. They must be refused, or give a signal that is the same after encoding and parsing it
// again.
func FuzzSignal(f *testing.F) {
	for _, s := range []Signal{
		EnteredSignal(chat.Membership{Room: chat.Room{ID: "r", LastSeq: 7}}),
		{By: "node", Room: "r", Reason: ReasonKicked, Through: 9}, {Room: "r", Reason: ReasonDeleted},
		{Close: &Close{Code: wire.CloseRevoked, Socket: "c"}},
	} {
		f.Add(s.Encode())
	}
	f.Add([]byte(`{"room":7}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseSignal(data)
		if err != nil {
			return
		}
		again, err := ParseSignal(s.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := string(again.Encode()), string(s.Encode()); a != b {
			t.Errorf("\n got %s\nwant %s", a, b)
		}
	})
}

// FuzzNotice parses random bytes. They must be refused, or give a notice that is the same after encoding and parsing it
// again.
func FuzzNotice(f *testing.F) {
	f.Add(Notice{Moved: &Membership{Room: "r", User: "u"}}.encode())
	f.Add([]byte(`{"moved":{"room":"r"}}`))
	f.Add([]byte(`{"moved":{}}`))
	f.Add([]byte(`{"moved":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := ParseNotice(data)
		if err != nil {
			return
		}
		if again, err := ParseNotice(n.encode()); err != nil || string(again.encode()) != string(n.encode()) {
			t.Errorf("%s became %s, %v", n.encode(), again.encode(), err)
		}
	})
}
