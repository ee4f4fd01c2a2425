package hub

import (
	"encoding/binary"
	"errors"
)

// envelope is what goes over the bus: one byte kind, the seq as uvarint (messages of all kinds), the last topic with its
// length before it (kindLast only), the data.
type envelope struct {
	kind byte
	seq  int64
	last string
	data []byte
}

const (
	kindMessage = 'm'
	kindLast    = 'x' // a message with Last
	kindLate    = 'l' // a message that may be late
	kindSignal  = 's'
	kindNotice  = 'n'
)

var errEnvelope = errors.New("malformed envelope")

func envelopeOf(m Message) envelope {
	e := envelope{kind: kindMessage, seq: m.Seq, last: m.Last, data: m.Data}
	switch {
	case m.Last != "":
		e.kind = kindLast
	case m.Late:
		e.kind = kindLate
	}
	return e
}

func encodeEnvelope(e envelope) []byte {
	b := make([]byte, 0, 1+2*binary.MaxVarintLen64+len(e.last)+len(e.data))
	b = append(b, e.kind)
	if e.isMessage() {
		b = binary.AppendUvarint(b, uint64(max(e.seq, 0)))
	}
	if e.kind == kindLast {
		b = binary.AppendUvarint(b, uint64(len(e.last)))
		b = append(b, e.last...)
	}
	return append(b, e.data...)
}

// parseEnvelope reads an envelope, whose data stays inside payload.
func parseEnvelope(payload []byte) (envelope, error) {
	if len(payload) == 0 {
		return envelope{}, errEnvelope
	}
	e := envelope{kind: payload[0], data: payload[1:]}
	switch {
	case e.kind == kindSignal || e.kind == kindNotice:
		return e, nil
	case e.isMessage():
		seq, n := binary.Uvarint(e.data)
		if n <= 0 || int64(seq) < 0 {
			return envelope{}, errEnvelope
		}
		e.seq, e.data = int64(seq), e.data[n:]
		if e.kind == kindLast {
			return e.withLast()
		}
		return e, nil
	}
	return envelope{}, errEnvelope
}

func (e envelope) isMessage() bool {
	return e.kind == kindMessage || e.kind == kindLast || e.kind == kindLate
}

// withLast takes the last topic from the beginning of the data.
func (e envelope) withLast() (envelope, error) {
	size, n := binary.Uvarint(e.data)
	if n <= 0 || size == 0 || size > uint64(len(e.data)-n) {
		return envelope{}, errEnvelope
	}
	e.last, e.data = string(e.data[n:n+int(size)]), e.data[n+int(size):]
	return e, nil
}
