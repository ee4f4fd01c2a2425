package hub

import (
	"context"
	"encoding/binary"
	"errors"
)

// Bus carries messages between instances.
type Bus interface {
	// Publish hands a payload to the other instances, in order per topic. It never blocks. The payload does not
	// change any more.
	Publish(topic string, payload []byte)
	// Subscribe and Unsubscribe say which topics this instance wants. They never block.
	Subscribe(topics ...string)
	Unsubscribe(topics ...string)
	// Run delivers until ctx is done.
	Run(ctx context.Context, r Receiver) error
}

// Receiver is the hub, as the bus sees it.
type Receiver interface {
	// Receive takes a payload that another instance published. The hub keeps it: it must not change any more.
	Receive(topic string, payload []byte)
	// Suspect says that messages may have been lost: compare every topic's last seq with the store.
	Suspect()
	// Down says that the bus is known to be down (true) or up again (false; Suspect comes with it). Meanwhile the hub
	// asks the store.
	Down(down bool)
}

// busEnd is the Receiver of a hub.
type busEnd struct{ hub *Hub }

// Receive delivers to local listeners only: the others have their own instance.
func (b busEnd) Receive(topic string, payload []byte) {
	e, err := parseEnvelope(payload)
	if err != nil {
		b.hub.o.Log.Warn("bus payload dropped", "topic", topic, "err", err)
		return
	}
	switch e.kind {
	case kindMessage:
		b.hub.publishHere(topic, Message{Seq: e.seq, Data: e.data})
	case kindSignal:
		b.hub.signalHere(topic, e.data)
	}
}

// Suspect has every topic compared with the store.
func (b busEnd) Suspect() { b.hub.suspectAll() }

// Down is to be done.
func (b busEnd) Down(bool) {}

// envelope is what goes over the bus: one byte kind, the seq as uvarint (messages only), the data.
type envelope struct {
	kind byte
	seq  int64
	data []byte
}

const (
	kindMessage = 'm'
	kindSignal  = 's'
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
	case kindSignal:
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
