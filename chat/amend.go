package chat

import (
	"encoding/json"
	"time"
)

// Amendment is an edit, a recall or a reaction that is to be applied to a text entry.
type Amendment struct {
	Kind   EntryKind // KindEdit, KindRecall, KindReact
	Room   string
	Target int64
	By     User
	Text   string // the new text; KindEdit only
	Emoji  string // KindReact only
	On     bool
	At     time.Time
	ID     string        // id of the new entry that records the amendment
	Window time.Duration // how long users may edit and recall their own texts
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
	Count  int    `json:"count"` // users that have this emoji on the text now
}

// Fold is the present state of a text after all its amendments. It is stored beside the text's entry.
type Fold struct {
	Text      *string        `json:"text,omitempty"`       // after the last edit
	EditedAt  int64          `json:"edited_at,omitempty"`  // Unix milliseconds
	EditSeq   int64          `json:"edit_seq,omitempty"`   // seq of the last edit entry
	RecallSeq int64          `json:"recall_seq,omitempty"` // seq of the recall entry
	Reactions map[string]int `json:"reactions,omitempty"`  // count by emoji, without zeros
}

// Subject is the text that an amendment is about, as the store has it. The store locks it until the amendment is
// committed.
type Subject struct {
	Entry   Entry // the text's entry
	Fold    Fold
	Reacted bool // the user By has put this emoji on the text
}

// AmendmentRuling is the decision on an amendment.
type AmendmentRuling struct {
	Changed bool
	Seq     int64           // seq of the entry that records the amendment; if not Changed, of the earlier one that did, or of the target
	Body    json.RawMessage // body of the entry that records the amendment
	Fold    Fold            // the target's Fold after the amendment
	Empty   bool            // the store must remove the texts of the target and its edits (EmptyText, EmptyEdit), and its reactions
}

// Amended is the result of Store.Amend.
type Amended struct {
	Changed bool
	Seq     int64
	Entry   Entry // the entry that records the amendment; set if Changed
}
