package envelope

import (
	"encoding/binary"
	"errors"
)

// Envelope is one payload of the bus in parsed form.
type Envelope struct {
	Kind  Kind
	Seq   int64  // set for messages only
	Final string // set for the kind Final only: the topic whose subscribers receive nothing after this message
	Data  []byte
}

// Kind is the first byte of a payload. It says what the payload carries.
type Kind byte

// The kinds of payloads.
const (
	Message  Kind = 'm'
	Final    Kind = 'x' // a message with a final topic
	Deferred Kind = 'l' // a message that may be deferred
	Signal   Kind = 's'
	Notice   Kind = 'n'
)

var errMalformed = errors.New("malformed envelope")

// Encode returns the envelope as the bytes that go over the bus.
func (e Envelope) Encode() []byte {
	b := make([]byte, 0, 1+2*binary.MaxVarintLen64+len(e.Final)+len(e.Data))
	b = append(b, byte(e.Kind))
	if e.Kind.isMessage() {
		b = binary.AppendUvarint(b, uint64(max(e.Seq, 0)))
	}
	if e.Kind == Final {
		b = binary.AppendUvarint(b, uint64(len(e.Final)))
		b = append(b, e.Final...)
	}
	return append(b, e.Data...)
}

// Parse parses a payload. The Data of the returned envelope is a slice of the payload, not a copy.
func Parse(payload []byte) (Envelope, error) {
	if len(payload) == 0 {
		return Envelope{}, errMalformed
	}
	e := Envelope{Kind: Kind(payload[0]), Data: payload[1:]}
	switch {
	case e.Kind == Signal || e.Kind == Notice:
		return e, nil
	case e.Kind.isMessage():
		seq, n := binary.Uvarint(e.Data)
		if n <= 0 || int64(seq) < 0 {
			return Envelope{}, errMalformed
		}
		e.Seq, e.Data = int64(seq), e.Data[n:]
		if e.Kind == Final {
			return e.splitFinal()
		}
		return e, nil
	}
	return Envelope{}, errMalformed
}

func (k Kind) isMessage() bool { return k == Message || k == Final || k == Deferred }

// splitFinal moves the final topic, with which the data begins, from Data into Final.
func (e Envelope) splitFinal() (Envelope, error) {
	size, n := binary.Uvarint(e.Data)
	if n <= 0 || size == 0 || size > uint64(len(e.Data)-n) {
		return Envelope{}, errMalformed
	}
	e.Final, e.Data = string(e.Data[n:n+int(size)]), e.Data[n+int(size):]
	return e, nil
}
