package hub

import (
	"encoding/binary"
	"testing"
)

// FuzzEnvelope parses random payloads. If parseEnvelope succeeds, encode and parseEnvelope must give the same envelope
// again.
func FuzzEnvelope(f *testing.F) {
	for _, e := range []envelope{
		{kind: kindMessage, seq: 0, data: []byte("loose")},
		{kind: kindMessage, seq: 1 << 62, data: nil},
		{kind: kindFinal, seq: 7, final: "user:ann", data: []byte("her last")},
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
