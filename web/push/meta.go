package push

import (
	"bytes"
	"encoding/json"
	"slices"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/redpacket"
	"hongbao/web/wire"
)

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
