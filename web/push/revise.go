package push

import (
	"encoding/json"

	"hongbao/chat"
	"hongbao/hub"
	"hongbao/web/wire"
)

// Revise is for hub.Options. If m is a recall, it returns a function that empties the recalled text and its edits,
// exactly as the store does. For any other message it returns nil.
func Revise(m hub.Message) func(earlier hub.Message) hub.Message {
	recall, ok := m.Meta.(meta)
	if !ok || recall.kind != chat.KindRecall {
		return nil
	}
	return func(earlier hub.Message) hub.Message {
		edit, _ := earlier.Meta.(meta)
		switch {
		case earlier.Seq == recall.target:
			earlier.Data = withBody(earlier.Data, chat.EmptyText)
		case edit.kind == chat.KindEdit && edit.target == recall.target:
			earlier.Data = withBody(earlier.Data, chat.EmptyEdit(recall.target))
		}
		return earlier
	}
}

// withBody returns the bytes of an entry with another body.
func withBody(entry []byte, body json.RawMessage) []byte {
	var e wire.Entry
	if json.Unmarshal(entry, &e) != nil {
		return entry // only if the bytes are not an entry
	}
	e.Body = body
	return wire.EntryJSON(e)
}
