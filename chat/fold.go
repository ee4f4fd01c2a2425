package chat

import (
	"encoding/json"
	"fmt"
)

// EmptyText is the body of a recalled text.
var EmptyText = json.RawMessage(`{"recalled":true}`)

// EmptyEdit returns the body that an edit entry gets when the text that it edited is recalled.
func EmptyEdit(target int64) json.RawMessage {
	return fmt.Appendf(nil, `{"target":%d,"recalled":true}`, target)
}

// foldedText is the body of a text as history shows it, with its amendments applied.
type foldedText struct {
	Text

	EditedAt  int64          `json:"edited_at,omitempty"`
	Reactions map[string]int `json:"reactions,omitempty"`
}

// Folded returns a text entry as history shows it: with its present text and reactions, which f has.
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
