// Package envelope encodes the payloads that instances send each other over the bus.
//
// Invariant: an existing encoding never changes, because instances of two versions share a bus during an upgrade.
package envelope

import (
	"encoding/binary"
	"errors"
	"strings"
)

// Envelope is one payload of the bus. Only messages have more than Kind and Data.
//
// A message names the epoch of the store in which it was published. If the receiver is in another epoch, the store may have
// lost the message, or may have another message with its seq. Messages of earlier versions do not name an epoch.
type Envelope struct {
	Kind     Kind
	Seq      int64
	Final    string // the topic whose subscribers receive no further message of this message's topic; "": none
	Deferred bool   // the message may be deferred
	Epoch    string // "": the sender has named none
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
)

// A payload begins with one of these bytes. If the payload is a message, its seq follows as a uvarint. If the first byte is
// final, the length of the topic as a uvarint and the topic come next. The data follows, up to the end of the payload.
const (
	message  = 'm'
	final    = 'x' // a message with a final topic or with attributes
	deferred = 'l' // a message that may be deferred
	signal   = 's'
	notice   = 'n'
)

// Attributes stand in the place of a final topic: "!", the message's epoch, "!", "deferred" or nothing, "!", its trace, "!",
// and its final topic. No topic of a connection begins with "!". Earlier versions read attributes as a final topic to which
// no connection is subscribed. So they deliver the message, and end subscriptions when the signal about it arrives.
const (
	separator         = "!"
	attributeDeferred = "deferred"
)

var errMalformed = errors.New("malformed envelope")

// Encode returns the envelope as the bytes that go over the bus.
func (e Envelope) Encode() []byte {
	begin, topic := e.begin()
	b := make([]byte, 0, 1+2*binary.MaxVarintLen64+len(topic)+len(e.Data))
	b = append(b, begin)
	if e.Kind == Message {
		b = binary.AppendUvarint(b, uint64(max(e.Seq, 0)))
	}
	if begin == final {
		b = binary.AppendUvarint(b, uint64(len(topic)))
		b = append(b, topic...)
	}
	return append(b, e.Data...)
}

// begin returns the first byte, and the topic or the attributes of a message that begins with final.
func (e Envelope) begin() (first byte, topic string) {
	switch {
	case e.Kind == Signal:
		return signal, ""
	case e.Kind == Notice:
		return notice, ""
	case e.Epoch != "" || e.Trace != "" || e.Deferred && e.Final != "" || strings.HasPrefix(e.Final, separator):
		return final, e.attributes()
	case e.Final != "":
		return final, e.Final
	case e.Deferred:
		return deferred, ""
	}
	return message, ""
}

func (e Envelope) attributes() string {
	var later string
	if e.Deferred {
		later = attributeDeferred
	}
	return separator + e.Epoch + separator + later + separator + e.Trace + separator + e.Final
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
	case message, deferred, final:
	default:
		return Envelope{}, errMalformed
	}
	seq, n := binary.Uvarint(rest)
	if n <= 0 || int64(seq) < 0 {
		return Envelope{}, errMalformed
	}
	e.Seq, e.Data, e.Deferred = int64(seq), rest[n:], payload[0] == deferred
	if payload[0] == final {
		return e.splitTopic()
	}
	return e, nil
}

// splitTopic takes the topic or the attributes off the data.
func (e Envelope) splitTopic() (Envelope, error) {
	size, n := binary.Uvarint(e.Data)
	if n <= 0 || size == 0 || size > uint64(len(e.Data)-n) {
		return Envelope{}, errMalformed
	}
	e.Final, e.Data = string(e.Data[n:n+int(size)]), e.Data[n+int(size):]
	if rest, ok := strings.CutPrefix(e.Final, separator); ok {
		var later string
		e.Epoch, rest, _ = strings.Cut(rest, separator)
		later, rest, _ = strings.Cut(rest, separator)
		e.Trace, e.Final, _ = strings.Cut(rest, separator)
		e.Deferred = later == attributeDeferred
	}
	return e, nil
}
