package push

import (
	"math"
	"sync"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/wire"
)

// Encoder encodes the hub's messages as pushes. It sees all messages of a room with connections on this instance, in
// order. So it can drop progress of a packet that is older than what was sent, or that comes after the packet's end.
// Progress comes from several instances, so no publisher could ensure that.
type Encoder struct {
	mu sync.Mutex
	// Guarded by mu. By packet: the number of claimed shares sent last, or ended. When latest is full, it becomes
	// previous, and the old previous is dropped.
	latest, previous map[string]int
}

const (
	ended      = math.MaxInt // higher than any number of claimed shares
	maxTracked = 10_000      // packets in latest
)

// NewEncoder returns an encoder. Each hub needs its own.
func NewEncoder() *Encoder { return &Encoder{} }

// Encode implements hub.Options.Encode. It returns nil for outdated progress, which is then not sent.
func (n *Encoder) Encode(e hub.Encoding, topic string, m hub.Message) []byte {
	about, _ := m.Meta.(meta)
	switch {
	case m.Seq > 0:
		if about.kind == chat.KindPacketDone {
			n.end(about.packet)
		}
		return wire.PublicationPush(wire.Encoding(e), topic, m.Seq, m.Data)
	case about.progress && !n.advance(about.packet, about.claimed):
		return nil
	}
	return wire.MessagePush(wire.Encoding(e), m.Data)
}

// end records that the packet has ended.
func (n *Encoder) end(packet string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.setLocked(packet, ended)
}

// advance records the progress of a packet. It returns false if higher progress, or the packet's end, was recorded
// before.
func (n *Encoder) advance(packet string, claimed int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if claimed < max(n.latest[packet], n.previous[packet]) {
		return false
	}
	n.setLocked(packet, claimed)
	return true
}

func (n *Encoder) setLocked(packet string, claimed int) {
	if n.latest == nil || len(n.latest) >= maxTracked {
		n.latest, n.previous = map[string]int{}, n.latest
	}
	n.latest[packet] = claimed
}
