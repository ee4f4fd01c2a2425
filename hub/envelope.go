package hub

import (
	"encoding/binary"
	"errors"
)

// envelope is what goes over the bus: one byte kind, the seq as uvarint (messages only), the data.
type envelope struct {
	kind byte
	seq  int64
	data []byte
}

const (
	kindMessage = 'm'
	kindSignal  = 's'
	kindNotice  = 'n'
)

var errEnvelope = errors.New("malformed envelope")

func encodeEnvelope(e envelope) []byte {
	b := make([]byte, 0, 1+binary.MaxVarintLen64+len(e.data))
	b = append(b, e.kind)
	if e.kind == kindMessage {
		b = binary.AppendUvarint(b, uint64(max(e.seq, 0)))
	}
	return append(b, e.data...)
}

// parseEnvelope reads an envelope, whose data stays inside payload.
func parseEnvelope(payload []byte) (envelope, error) {
	if len(payload) == 0 {
		return envelope{}, errEnvelope
	}
	e := envelope{kind: payload[0], data: payload[1:]}
	switch e.kind {
	case kindSignal, kindNotice:
		return e, nil
	case kindMessage:
		seq, n := binary.Uvarint(e.data)
		if n <= 0 || int64(seq) < 0 {
			return envelope{}, errEnvelope
		}
		e.seq, e.data = int64(seq), e.data[n:]
		return e, nil
	}
	return envelope{}, errEnvelope
}
