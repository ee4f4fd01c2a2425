package chat

import (
	"encoding/json"
	"fmt"
)

// EmptyText is the body of a text that was recalled.
var EmptyText = json.RawMessage(`{"recalled":true}`)

// EmptyEdit is the body of an edit entry whose text was recalled.
func EmptyEdit(target int64) json.RawMessage {
	return fmt.Appendf(nil, `{"target":%d,"recalled":true}`, target)
}

// foldedText is the body of a text as history shows it.
type foldedText struct {
	Text

	EditedAt  int64          `json:"edited_at,omitempty"`
	Reactions map[string]int `json:"reactions,omitempty"`
}

// Folded is a text as history shows it: as it reads now, with what others have put on it.
func (e Entry) Folded(f Fold) (Entry, error) {
	if f.RecallSeq != 0 {
		e.Body = EmptyText
		return e, nil
	}
	if f.Text == nil && len(f.Reactions) == 0 {
		return e, nil
	}
	body := foldedText{EditedAt: f.EditedAt, Reactions: f.Reactions}
	if err := json.Unmarshal(e.Body, &body.Text); err != nil {
		return Entry{}, fmt.Errorf("fold entry %s %d: %w", e.Room, e.Seq, err)
	}
	if f.Text != nil {
		body.Text.Text = *f.Text
	}
	var err error
	e.Body, err = Body(body)
	return e, err
}
