package hub

import (
	"encoding/binary"
	"reflect"
	"testing"
)

// FuzzEnvelope parses random payloads. If parseEnvelope succeeds, encode and parseEnvelope must give the same envelope
// again.
func FuzzEnvelope(f *testing.F) {
	for _, e := range []envelope{
		{kind: kindMessage, seq: 0, data: []byte("loose")},
		{kind: kindMessage, seq: 1 << 62, data: nil},
		{kind: kindFinal, seq: 7, final: "user:ann", data: []byte("her last")},
		{kind: kindFinal, seq: 7, final: "!epoch!deferred!00-trace!user:ann", data: []byte("{}")},
		{kind: kindDeferred, seq: 8, data: []byte("no hurry")},
		{kind: kindSignal, data: []byte("signal")},
		{kind: kindNotice, data: []byte("notice")},
	} {
		f.Add(e.encode())
	}
	f.Add([]byte{})
	f.Add([]byte("m"))
	f.Add([]byte("?unknown"))
	f.Add([]byte("x\x01\x05ab"))
	f.Add(append([]byte("m"), binary.AppendUvarint(nil, 1<<63)...))
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, err := parseEnvelope(payload)
		if err != nil {
			return
		}
		again, err := parseEnvelope(e.encode())
		if err != nil || again.kind != e.kind || again.seq != e.seq || again.final != e.final || string(again.data) != string(e.data) {
			t.Errorf("%+v came back as %+v, %v", e, again, err)
		}
		e.message() // must not panic
		if e.seq < 0 {
			t.Errorf("seq %d", e.seq)
		}
	})
}

// TestEnvelopeBytes compares the encoded bytes of each kind with fixed ones, because all versions of the program must agree
// on them.
func TestEnvelopeBytes(t *testing.T) {
	for want, e := range map[string]envelope{
		"m\xac\x02text":    {kind: kindMessage, seq: 300, data: []byte("text")},
		"x\x07\x04user.it": {kind: kindFinal, seq: 7, final: "user", data: []byte(".it")},
		"l\x00text":        {kind: kindDeferred, data: []byte("text")},
		"stext":            {kind: kindSignal, data: []byte("text")},
		"ntext":            {kind: kindNotice, data: []byte("text")},
	} {
		if got := string(e.encode()); got != want {
			t.Errorf("%+v is %q, want %q", e, got, want)
		}
	}
}

// TestAttributesAreAFinalTopicOnTheBus encodes messages with an epoch, a trace or both. Earlier versions read them as messages with a
// final topic that no connection has. Messages without attributes keep the form that those versions know.
func TestAttributesAreAFinalTopicOnTheBus(t *testing.T) {
	const span = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for name, c := range map[string]struct {
		message Message
		epoch   string
		kind    payloadKind
		final   string
	}{
		"nothing":         {Message{Seq: 3}, "", kindMessage, ""},
		"deferred":        {Message{Deferred: true}, "", kindDeferred, ""},
		"final":           {Message{Seq: 3, Final: "user:ann"}, "", kindFinal, "user:ann"},
		"epoch":           {Message{Seq: 3}, "e1", kindFinal, "!e1!!!"},
		"epoch, deferred": {Message{Seq: 3, Deferred: true}, "e1", kindFinal, "!e1!deferred!!"},
		"epoch, final":    {Message{Seq: 3, Final: "user:a!b"}, "e1", kindFinal, "!e1!!!user:a!b"},
		"trace, deferred": {Message{Trace: span, Deferred: true}, "", kindFinal, "!!deferred!" + span + "!"},
		"everything":      {Message{Seq: 3, Trace: span, Deferred: true, Final: "user:ann"}, "e1", kindFinal, "!e1!deferred!" + span + "!user:ann"},
	} {
		e, err := parseEnvelope(c.message.envelope(c.epoch).encode())
		if err != nil || e.kind != c.kind || e.final != c.final {
			t.Errorf("%s: %+v, %v; want kind %c and final topic %q", name, e, err, c.kind, c.final)
		}
		m, epoch := e.message()
		if m.Data = nil; !reflect.DeepEqual(m, c.message) || epoch != c.epoch {
			t.Errorf("%s: received as %+v of epoch %q", name, m, epoch)
		}
	}
}
