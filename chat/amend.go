package chat

import (
	"encoding/json"
	"time"
)

// Amendment is an edit, a recall or a reaction on its way to an entry.
type Amendment struct {
	Kind   EntryKind // KindEdit, KindRecall, KindReact
	Room   string
	Target int64
	By     User
	Text   string // KindEdit
	Emoji  string // KindReact
	On     bool
	At     time.Time
	ID     string        // of the entry it makes
	Window time.Duration // how long one's own text may be edited and recalled
}

// Edit is the body of an edit entry.
type Edit struct {
	Target int64  `json:"target"`
	Text   string `json:"text"`
}

// Recall is the body of a recall entry.
type Recall struct {
	Target int64 `json:"target"`
}

// Reaction is the body of a react entry.
type Reaction struct {
	Target int64  `json:"target"`
	Emoji  string `json:"emoji"`
	On     bool   `json:"on"`
	Count  int    `json:"count"` // of this emoji on the text, now
}

// Fold is what has become of a text since it was sent. It is kept beside the entry.
type Fold struct {
	Text      *string        `json:"text,omitempty"`       // as it was edited last
	EditedAt  int64          `json:"edited_at,omitempty"`  // Unix milliseconds
	EditSeq   int64          `json:"edit_seq,omitempty"`   // the last edit entry
	RecallSeq int64          `json:"recall_seq,omitempty"` // the recall entry
	Reactions map[string]int `json:"reactions,omitempty"`  // how many by emoji, those that are not 0
}

// Subject is what an amendment is about: the store holds it until the amendment is committed.
type Subject struct {
	Entry   Entry // as stored
	Fold    Fold
	Reacted bool // By has this emoji on it
}

// Amends is what becomes of an amendment.
type Amends struct {
	Changed bool
	Seq     int64           // the entry that says so; !Changed: the one that said so before, or the target
	Body    json.RawMessage // of the entry to be made
	Fold    Fold            // of the target from now on
	Empty   bool            // the target and its edits lose their texts (EmptyText, EmptyEdit), and its reactions go
}

// Amended is what an Amend did.
type Amended struct {
	Changed bool
	Seq     int64
	Entry   Entry // if Changed
}
