package web

import (
	"bytes"
	"encoding/json"
	"fmt"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/wire"
)

var (
	recallKind = []byte(`"kind":"recall"`)
	editKind   = []byte(`"kind":"edit"`)
	packetKind = []byte(`"kind":"packet"`)
)

// Revise is for hub.Options: a recall empties its text, and the edits of that, wherever they are kept, as the store has
// emptied them.
func Revise(m hub.Message) func(data []byte) []byte {
	var recall struct {
		Kind string      `json:"kind"`
		Body chat.Recall `json:"body"`
	}
	if !bytes.Contains(m.Data, recallKind) || json.Unmarshal(m.Data, &recall) != nil || recall.Kind != string(chat.KindRecall) {
		return nil
	}
	target := recall.Body.Target
	head := fmt.Appendf(nil, `{"seq":%d,`, target)
	return func(data []byte) []byte {
		switch {
		case bytes.HasPrefix(data, head):
			return withBody(data, chat.EmptyText)
		case bytes.Contains(data, editKind) && editOf(data) == target:
			return withBody(data, chat.EmptyEdit(target))
		}
		return data
	}
}

// editOf is the text that an entry edits; 0: it is no edit.
func editOf(entry []byte) int64 {
	var edit struct {
		Kind string    `json:"kind"`
		Body chat.Edit `json:"body"`
	}
	if json.Unmarshal(entry, &edit) != nil || edit.Kind != string(chat.KindEdit) {
		return 0
	}
	return edit.Body.Target
}

// withBody is an entry with another body.
func withBody(entry []byte, body json.RawMessage) []byte {
	var e wire.Entry
	if json.Unmarshal(entry, &e) != nil {
		return entry // it is one of ours, so this does not happen
	}
	e.Body = body
	return wire.EntryJSON(e)
}

// packetIn is the id of the packet that an entry, as it is on the wire, puts into a room; empty: none.
func packetIn(entry []byte) string {
	var e struct {
		Kind string      `json:"kind"`
		Body wire.Packet `json:"body"`
	}
	if !bytes.Contains(entry, packetKind) || json.Unmarshal(entry, &e) != nil || e.Kind != string(chat.KindPacket) {
		return ""
	}
	return e.Body.ID
}
