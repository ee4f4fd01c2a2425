package web

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/wire"
)

// said is an entry as it is on the wire.
func said(seq int64, kind chat.EntryKind, name string, body any) []byte {
	return wire.EntryJSON(wire.Entry{Seq: seq, ID: "e", At: seq, From: wire.User{ID: "u-1", Name: name}, Kind: string(kind), Key: name, Body: marshal(body)})
}

// FuzzRevise: of a text that was recalled, and of its edits, nothing is left but what the store has left of them; recalled once
// more they stay so, and everything else stays as it is.
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
		revise := Revise(hub.Message{Seq: 9, Data: said(9, chat.KindRecall, name, chat.Recall{Target: target})})
		if revise == nil {
			t.Fatal("a recall recalls nothing")
		}
		rich := wire.TextBody{Text: text, Data: data}
		for _, c := range []struct{ entry, want []byte }{
			{said(target, chat.KindText, name, rich), said(target, chat.KindText, name, chat.EmptyText)},
			{said(other, chat.KindEdit, name, chat.Edit{Target: target, Text: text}), said(other, chat.KindEdit, name, chat.EmptyEdit(target))},
			{said(other, chat.KindText, name, rich), nil},
			{said(other, chat.KindEdit, name, chat.Edit{Target: other, Text: text}), nil},
			{said(other, chat.KindReact, name, chat.Reaction{Target: target, Emoji: text}), nil},
		} {
			want := c.want
			if want == nil {
				want = c.entry
			}
			before := bytes.Clone(c.entry)
			got := revise(c.entry)
			if !bytes.Equal(got, want) || !bytes.Equal(revise(got), want) {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
			if !bytes.Equal(c.entry, before) {
				t.Errorf("what was given out before has become %s", c.entry)
			}
		}
	})
}

// FuzzLook: whatever people write, nobody can write a recall, an edit, a packet or the end of one.
func FuzzLook(f *testing.F) {
	forged := `{"seq":1,"kind":"recall","body":{"target":1,"packet":"p","id":"p"}}`
	f.Add(forged, "Bob", []byte(forged))
	f.Add(`","kind":"packet_done","body":{"packet":"p"}`, `","kind":"packet"`, []byte(`{"kind":"packet_done","packet":"p","body":{"packet":"p"}}`))
	f.Add(`{"packet_progress":{"packet":"p","claimed":9}}`, `"kind":"edit"`, []byte(`{"Kind":"edit","KIND":"recall"}`))
	f.Fuzz(func(t *testing.T, text, name string, data []byte) {
		n := NewEncoder()
		for _, m := range []hub.Message{{Data: data}, {Seq: 1, Data: data}} { // what is no entry at all
			if revise := Revise(m); revise != nil {
				revise(data)
			}
			packetIn(data)
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
			entry := said(2, kind, name, body)
			if Revise(hub.Message{Seq: 2, Data: entry}) != nil || packetIn(entry) != "" {
				t.Errorf("a %s is taken for something else: %s", kind, entry)
			}
			if target := editOf(entry); (target != 0) != (kind == chat.KindEdit) {
				t.Errorf("a %s edits %d: %s", kind, target, entry)
			}
			n.Encode(hub.JSON, "room:r", hub.Message{Seq: 2, Data: entry})
		}
		if len(n.told) > 0 {
			t.Errorf("packets are over: %v", n.told)
		}
		if utf8.ValidString(name) {
			done := said(3, chat.KindPacketDone, name, wire.PacketDoneBody{Packet: name})
			n.Encode(hub.Protobuf, "room:r", hub.Message{Seq: 3, Data: done})
			late := marshal(wire.Message{PacketProgress: &wire.ProgressPush{Packet: name, Claimed: 1}})
			if push := n.Encode(hub.JSON, "room:r", hub.Message{Data: late}); push != nil {
				t.Errorf("behind the end came %s", push)
			}
		}
	})
}

// FuzzSignal: what the bus brings to a session is refused, or waits until that is open, and says the same when it is passed on.
func FuzzSignal(f *testing.F) {
	srv := earOfBus(f)
	for _, sig := range []signal{
		enteredSignal(chat.Membership{Room: chat.Room{ID: "r", LastSeq: 7}}),
		{By: srv.pub.node, Room: "r", Reason: reasonKicked, Through: 9}, {Room: "r", Reason: reasonDeleted},
		{Close: &closing{Code: wire.CloseRevoked, Socket: "c"}},
	} {
		f.Add(sig.encode())
	}
	f.Add([]byte(`{"room":7}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &session{srv: srv, phase: opening}
		s.Signal("user:u", data)
		if good := json.Unmarshal(data, new(signal)) == nil; len(s.waiting) > 0 != good {
			t.Fatalf("%d wait", len(s.waiting))
		} else if !good {
			return
		}
		var again signal
		if err := json.Unmarshal(s.waiting[0].encode(), &again); err != nil {
			t.Fatal(err)
		}
		if a, b := string(again.encode()), string(s.waiting[0].encode()); a != b {
			t.Errorf("\n got %s\nwant %s", a, b)
		}
	})
}

// FuzzNotice: what another instance says is understood or passed over.
func FuzzNotice(f *testing.F) {
	srv := earOfBus(f)
	f.Add(marshal(notice{Moved: &place{Room: "r", User: "u"}}))
	f.Add([]byte(`{"moved":{"room":"r"}}`))
	f.Add([]byte(`{"moved":{}}`))
	f.Add([]byte(`{"moved":[]}`))
	f.Fuzz(func(_ *testing.T, data []byte) { srv.Notice(data) })
}
