package envelope

import (
	"encoding/binary"
	"reflect"
	"testing"
)

const span = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// encoded has envelopes and their bytes. All versions of the program must agree on them.
var encoded = map[string]Envelope{
	"m\xac\x02\x00\x00\x00text": {Seq: 300, Data: []byte("text")},
	"m\x00\x00\x00\x00loose":    {Data: []byte("loose")},
	"m\x07\x00\x00\x04user.it":  {Seq: 7, Final: "user", Data: []byte(".it")},
	"d\x00\x00\x00\x00text":     {Deferred: true, Data: []byte("text")},
	"stext":                     {Kind: Signal, Data: []byte("text")},
	"ntext":                     {Kind: Notice, Data: []byte("text")},
	"c":                         {Kind: Compare},
	"m\x03\x02e1\x00\x00{}":     {Seq: 3, Epoch: "e1", Data: []byte("{}")},
	"d\x03\x02e1\x37" + span + "\x08user:ann{}": {Seq: 3, Trace: span, Deferred: true, Final: "user:ann", Epoch: "e1", Data: []byte("{}")},
}

func TestBytesOfEachKind(t *testing.T) {
	for want, e := range encoded {
		if got := string(e.Encode()); got != want {
			t.Errorf("%+v is %q, want %q", e, got, want)
		}
		if got, err := Parse([]byte(want)); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%q is %+v, %v; want %+v", want, got, err, e)
		}
	}
}

// FuzzEnvelope parses random payloads. If Parse succeeds, Encode and Parse must give the same envelope again.
func FuzzEnvelope(f *testing.F) {
	for payload := range encoded {
		f.Add([]byte(payload))
	}
	f.Add(Envelope{Seq: 1 << 62}.Encode())
	for _, malformed := range []string{"", "m", "?unknown", "m\x01\x05ab", "m\x01\x00\x00", string(append([]byte("m"), binary.AppendUvarint(nil, 1<<63)...))} {
		if e, err := Parse([]byte(malformed)); err == nil {
			f.Errorf("%q is %+v, want an error", malformed, e)
		}
		f.Add([]byte(malformed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		e, err := Parse(payload)
		if err != nil {
			return
		}
		again, err := Parse(e.Encode())
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Errorf("%+v came back as %+v, %v", e, again, err)
		}
		if e.Seq < 0 {
			t.Errorf("seq %d", e.Seq)
		}
	})
}
