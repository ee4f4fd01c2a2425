package envelope

import (
	"encoding/binary"
	"testing"
)

// FuzzParse parses random payloads. If Parse succeeds, Encode and Parse must give the same envelope again.
func FuzzParse(f *testing.F) {
	for _, e := range []Envelope{
		{Kind: Message, Seq: 0, Data: []byte("loose")},
		{Kind: Message, Seq: 1 << 62, Data: nil},
		{Kind: Final, Seq: 7, Final: "user:ann", Data: []byte("her last")},
		{Kind: Deferred, Seq: 8, Data: []byte("no hurry")},
		{Kind: Signal, Data: []byte("signal")},
		{Kind: Notice, Data: []byte("notice")},
	} {
		f.Add(e.Encode())
	}
	f.Add([]byte{})
	f.Add([]byte("m"))
	f.Add([]byte("?unknown"))
	f.Add([]byte("x\x01\x05ab"))
	f.Add(append([]byte("m"), binary.AppendUvarint(nil, 1<<63)...))
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, err := Parse(payload)
		if err != nil {
			return
		}
		again, err := Parse(e.Encode())
		if err != nil || again.Kind != e.Kind || again.Seq != e.Seq || again.Final != e.Final || string(again.Data) != string(e.Data) {
			t.Errorf("%+v came back as %+v, %v", e, again, err)
		}
		if e.Seq < 0 {
			t.Errorf("seq %d", e.Seq)
		}
	})
}

// TestEncode compares the encoded bytes of each kind with fixed ones, because all versions of the program must agree on
// them.
func TestEncode(t *testing.T) {
	for want, e := range map[string]Envelope{
		"m\xac\x02text":    {Kind: Message, Seq: 300, Data: []byte("text")},
		"x\x07\x04user.it": {Kind: Final, Seq: 7, Final: "user", Data: []byte(".it")},
		"l\x00text":        {Kind: Deferred, Data: []byte("text")},
		"stext":            {Kind: Signal, Data: []byte("text")},
		"ntext":            {Kind: Notice, Data: []byte("text")},
	} {
		if got := string(e.Encode()); got != want {
			t.Errorf("%+v is %q, want %q", e, got, want)
		}
	}
}
