package bus

import (
	"bytes"
	"testing"

	"hongbao/hub"
)

// FuzzBusMessage checks that a foreign message is refused, and that our own decodes to what was sent, on its channel
// and with our key only.
func FuzzBusMessage(f *testing.F) {
	f.Add("mroom", uint64(1), uint64(1<<63))
	f.Add("0123456789abcdef", uint64(0), uint64(0))
	f.Add("0123456789", uint64(7), uint64(8))
	f.Fuzz(func(t *testing.T, payload string, id, number uint64) {
		p := newMessage("room", []byte(payload), hub.Kept)
		p.setNumber(id, number)
		ours := newTagger([]byte("key"))
		ours.write("channel", p)
		from, n, got, ok := ours.open("channel", p.bytes)
		if !ok || from != id || n != number || p.number() != number || string(got) != payload {
			t.Errorf("%d, %d, %q came back as %d, %d, %q, %t", id, number, payload, from, n, got, ok)
		}
		if _, _, _, ok := ours.open("channe", p.bytes); ok {
			t.Error("accepted on another channel")
		}
		if _, _, _, ok := newTagger([]byte("other")).open("channel", p.bytes); ok {
			t.Error("accepted with another key")
		}
		for i := range p.bytes {
			changed := bytes.Clone(p.bytes)
			changed[i] ^= 1
			if _, _, _, ok := ours.open("channel", changed); ok {
				t.Errorf("accepted with byte %d changed", i)
			}
		}
		if _, _, _, ok := ours.open("channel", []byte(payload)); ok {
			t.Errorf("%q: accepted", payload)
		}
	})
}
