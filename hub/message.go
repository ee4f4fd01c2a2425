package hub

import (
	"context"

	"hongbao/hub/internal/envelope"
	"hongbao/hub/internal/socket"
)

// Encoding is the encoding in which a connection receives messages.
type Encoding = socket.Encoding

// The two encodings.
const (
	JSON     = socket.JSON     // text frames; newlines separate the messages of a frame
	Protobuf = socket.Protobuf // binary frames, each message prefixed by its varint length
)

// Message is one push to the subscribers of a topic. A message with Seq > 0 is sequenced: it is delivered in order,
// without gaps. A message with Seq 0 may be dropped for slow clients.
type Message struct {
	Seq  int64
	Data []byte // the bytes on the bus and in the store; never changes
	// Meta is what Options.Encode and Options.Revise need to know about Data, so that they need not parse it. The
	// publisher or Options.Fetch sets it; for messages from the bus, Options.Decode does. It is kept in memory as long
	// as Data, so it should be small.
	Meta     any
	Final    string // name of a topic, or "": after this message, subscribers of the named topic receive nothing more of this message's topic
	Deferred bool   // may wait a moment, to be written together with other messages
}

// envelope returns the message in the form that goes over the bus.
func (m Message) envelope() envelope.Envelope {
	e := envelope.Envelope{Kind: envelope.Message, Seq: m.Seq, Final: m.Final, Data: m.Data}
	switch {
	case m.Final != "":
		e.Kind = envelope.Final
	case m.Deferred:
		e.Kind = envelope.Deferred
	}
	return e
}

// Span names the messages of a topic with a seq above After, up to and including Through.
type Span struct {
	Topic          string
	After, Through int64
}

// fetcher is the type of Options.Fetch: it reads messages from the store.
type fetcher func(ctx context.Context, spans []Span) (map[string][]Message, error)
