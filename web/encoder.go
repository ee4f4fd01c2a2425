package web

import (
	"bytes"
	"encoding/json"
	"sync"

	"hongbao/hub"
	"hongbao/web/wire"
)

// Encoder makes pushes of the hub's messages. It sees all that goes into a room, in order, and so keeps a promise that
// no publisher can keep alone: the progress of a packet, told by one instance, may come in after its end, told by
// another; then it goes no further.
type Encoder struct {
	mu         sync.Mutex
	ended, old map[string]struct{} // guarded by mu; packets that ended lately
}

// NewEncoder makes the encoder of one hub.
func NewEncoder() *Encoder { return &Encoder{} }

// manyEnded is how many packets are kept in mind before the older half is dropped.
const manyEnded = 10_000

// How the messages begin, or what they hold, that the encoder has to look into.
var (
	progressPrefix = []byte(`{"packet_progress":`)
	doneKind       = []byte(`"kind":"packet_done"`)
)

// Encode is for hub.Options.
func (n *Encoder) Encode(e hub.Encoding, topic string, m hub.Message) []byte {
	switch {
	case m.Seq > 0:
		if bytes.Contains(m.Data, doneKind) {
			n.end(m.Data)
		}
		return wire.PublicationPush(wire.Encoding(e), topic, m.Seq, m.Data)
	case bytes.HasPrefix(m.Data, progressPrefix) && n.isOver(m.Data):
		return nil
	}
	return wire.MessagePush(wire.Encoding(e), m.Data)
}

// end notes the packet whose end the entry tells.
func (n *Encoder) end(entry []byte) {
	var e struct {
		Kind string              `json:"kind"`
		Body wire.PacketDoneBody `json:"body"`
	}
	if json.Unmarshal(entry, &e) != nil || e.Kind != "packet_done" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended == nil || len(n.ended) >= manyEnded {
		n.ended, n.old = map[string]struct{}{}, n.ended
	}
	n.ended[e.Body.Packet] = struct{}{}
}

// isOver tells whether the packet whose progress the message tells has ended.
func (n *Encoder) isOver(message []byte) bool {
	var m wire.Message
	if json.Unmarshal(message, &m) != nil || m.PacketProgress == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, lately := n.ended[m.PacketProgress.Packet]
	_, before := n.old[m.PacketProgress.Packet]
	return lately || before
}
