package push

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"sync"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
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

// meta is the Meta of a hub.Message: what this package must know about a push without parsing its bytes. Most messages
// have no Meta.
type meta struct {
	kind     chat.EntryKind // of an entry, if it is an edit, recall, packet or packet_done
	target   int64          // of an edit or recall: the seq of the text
	packet   string         // id; of a packet or packet_done entry, or of progress
	progress bool           // the message says how many shares of a packet are claimed
	claimed  int            // number of claimed shares, of progress
}

// Every message with a Meta contains one of these byte sequences. Other messages are not parsed.
var (
	progressPrefix = []byte(`{"packet_progress":`)
	kindsWithMeta  = [][]byte{
		[]byte(`"kind":"edit"`), []byte(`"kind":"recall"`), []byte(`"kind":"packet"`), []byte(`"kind":"packet_done"`),
	}
)

// PacketIn returns the id of the packet that a packet entry announces, or "" for any other message.
func PacketIn(m hub.Message) string {
	if about, ok := m.Meta.(meta); ok && about.kind == chat.KindPacket {
		return about.packet
	}
	return ""
}

// entryMeta returns the Meta of an entry, or nil if it has none.
func entryMeta(kind chat.EntryKind, body json.RawMessage) any {
	switch kind {
	case chat.KindEdit, chat.KindRecall, chat.KindPacket, chat.KindPacketDone:
	default:
		return nil
	}
	var b struct {
		Target int64  `json:"target"` // edit, recall
		ID     string `json:"id"`     // packet
		Packet string `json:"packet"` // packet_done
	}
	if json.Unmarshal(body, &b) != nil {
		return nil
	}
	if kind == chat.KindPacket {
		b.Packet = b.ID
	}
	return meta{kind: kind, target: b.Target, packet: b.Packet}
}

// eventMeta returns the Meta of an event, or nil if it has none.
func eventMeta(e chat.Event) any {
	if p, ok := e.(redpacket.Progress); ok {
		return meta{progress: true, packet: p.Packet, claimed: p.Claimed}
	}
	return nil
}

// Decode returns the Meta of a message that another instance has published. It is for hub.Options.
func Decode(_ string, seq int64, data []byte) any {
	if seq <= 0 {
		var m wire.Message
		if !bytes.HasPrefix(data, progressPrefix) || json.Unmarshal(data, &m) != nil || m.PacketProgress == nil {
			return nil
		}
		return meta{progress: true, packet: m.PacketProgress.Packet, claimed: m.PacketProgress.Claimed}
	}
	if !slices.ContainsFunc(kindsWithMeta, func(kind []byte) bool { return bytes.Contains(data, kind) }) {
		return nil
	}
	var e struct {
		Kind chat.EntryKind  `json:"kind"`
		Body json.RawMessage `json:"body"`
	}
	if json.Unmarshal(data, &e) != nil {
		return nil
	}
	return entryMeta(e.Kind, e.Body)
}
