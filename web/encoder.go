package web

import (
	"bytes"
	"encoding/json"
	"math"
	"sync"

	"hongbao/hub"
	"hongbao/web/wire"
)

// Encoder makes pushes of the hub's messages. It sees all that somebody here listens to in a room, in order, and so
// keeps promises that no publisher can keep alone: the progress of a packet, as several instances tell it, never goes
// back, and stops at the packet's end.
type Encoder struct {
	mu        sync.Mutex
	told, old map[string]int // guarded by mu; how far packets are, as told lately; over: they have ended
}

// over is further than any packet goes.
const over = math.MaxInt

// NewEncoder makes the encoder of one hub.
func NewEncoder() *Encoder { return &Encoder{} }

// manyTold is how many packets are kept in mind before the older half is dropped.
const manyTold = 10_000

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
	case bytes.HasPrefix(m.Data, progressPrefix) && n.isOld(m.Data):
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
	n.noteLocked(e.Body.Packet, over)
}

// isOld tells whether the message is about a packet that is further by now.
func (n *Encoder) isOld(message []byte) bool {
	var m wire.Message
	if json.Unmarshal(message, &m) != nil || m.PacketProgress == nil {
		return false
	}
	p := m.PacketProgress
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.Claimed < max(n.told[p.Packet], n.old[p.Packet]) {
		return true
	}
	n.noteLocked(p.Packet, p.Claimed)
	return false
}

func (n *Encoder) noteLocked(packet string, claimed int) {
	if n.told == nil || len(n.told) >= manyTold {
		n.told, n.old = map[string]int{}, n.told
	}
	n.told[packet] = claimed
}
