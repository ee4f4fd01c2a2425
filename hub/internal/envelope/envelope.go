// Package envelope encodes the payloads that instances send each other over the bus.
//
// Invariant: after the first release an existing encoding never changes, because instances of two versions share a bus during an
// upgrade.
package envelope

import (
	"encoding/binary"
	"errors"
)

// Envelope is one payload of the bus. Only messages have more than Kind and Data.
//
// A message names the epoch of the store in which it was published. If the receiver is in another epoch, the store may have
// lost the message, or may have another message with its seq.
type Envelope struct {
	Kind     Kind
	Seq      int64
	Final    string // the topic whose subscribers receive no further message of this message's topic; "": none
	Deferred bool   // the message may be deferred
	Epoch    string // "": the sender's store has none
	Trace    string // names the span that has caused the message; "": none
	Data     []byte
}

// Kind says what a payload carries.
type Kind byte

// The kinds of payloads.
const (
	Message Kind = iota
	Signal
	Notice
	Compare // the receiver compares the topic with the store; there is no data
)

// A payload begins with one of these bytes. In a message its seq follows as a uvarint, and then epoch, trace and final topic, each
// with its length as a uvarint before it. The data comes last, up to the end of the payload.
const (
	message  = 'm'
	deferred = 'd' // a message that may be deferred
	signal   = 's'
	notice   = 'n'
	compare  = 'c'
)

var errMalformed = errors.New("malformed envelope")

// Encode returns the envelope as the bytes that go over the bus.
func (e Envelope) Encode() []byte {
	b := make([]byte, 0, 1+4*binary.MaxVarintLen64+len(e.Epoch)+len(e.Trace)+len(e.Final)+len(e.Data))
	switch {
	case e.Kind == Signal:
		return append(append(b, signal), e.Data...)
	case e.Kind == Notice:
		return append(append(b, notice), e.Data...)
	case e.Kind == Compare:
		return append(b, compare)
	case e.Deferred:
		b = append(b, deferred)
	default:
		b = append(b, message)
	}
	b = binary.AppendUvarint(b, uint64(max(e.Seq, 0)))
	for _, text := range []string{e.Epoch, e.Trace, e.Final} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return append(b, e.Data...)
}

// Parse parses a payload. The data of the returned envelope is a slice of the payload, not a copy.
func Parse(payload []byte) (Envelope, error) {
	if len(payload) == 0 {
		return Envelope{}, errMalformed
	}
	e, rest := Envelope{}, payload[1:]
	switch payload[0] {
	case signal:
		return Envelope{Kind: Signal, Data: rest}, nil
	case notice:
		return Envelope{Kind: Notice, Data: rest}, nil
	case compare:
		return Envelope{Kind: Compare}, nil
	case message, deferred:
		e.Deferred = payload[0] == deferred
	default:
		return Envelope{}, errMalformed
	}
	seq, n := binary.Uvarint(rest)
	if n <= 0 || int64(seq) < 0 {
		return Envelope{}, errMalformed
	}
	e.Seq, e.Data = int64(seq), rest[n:]
	for _, text := range []*string{&e.Epoch, &e.Trace, &e.Final} {
		size, n := binary.Uvarint(e.Data)
		if n <= 0 || size > uint64(len(e.Data)-n) {
			return Envelope{}, errMalformed
		}
		*text, e.Data = string(e.Data[n:n+int(size)]), e.Data[n+int(size):]
	}
	return e, nil
}
