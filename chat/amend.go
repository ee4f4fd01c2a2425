package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// Amendment is an edit, a recall or a reaction that is to be applied to a text entry; a reaction also to a packet entry.
type Amendment struct {
	Kind   EntryKind // KindEdit, KindRecall, KindReact
	Room   string
	Target int64
	By     User
	Text   string // the new text; KindEdit only

	Preview *Preview // of a link of the new text; nil: none

	Emoji  string // KindReact only
	On     bool
	At     time.Time
	ID     string        // id of the new entry that records the amendment
	Window time.Duration // how long users may edit and recall their own texts; the owner and admins may recall any text later, too
}

// Edit is the body of an edit entry.
type Edit struct {
	Target  int64    `json:"target"`
	Text    string   `json:"text"`
	Preview *Preview `json:"preview,omitempty"`
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
	Count  int    `json:"count"` // users that have this emoji on the entry now
}

// Fold is the present state of a text or a packet after all its amendments. It is stored beside its entry. A packet has
// reactions only.
type Fold struct {
	Text      *string        `json:"text,omitempty"`       // after the last edit
	Preview   *Preview       `json:"preview,omitempty"`    // of the text after the last edit; nil: none
	EditedAt  int64          `json:"edited_at,omitempty"`  // Unix milliseconds
	EditSeq   int64          `json:"edit_seq,omitempty"`   // seq of the last edit entry
	RecallSeq int64          `json:"recall_seq,omitempty"` // seq of the recall entry; of a retired text its own
	Reactions map[string]int `json:"reactions,omitempty"`  // count by emoji, without zeros
}

// Subject is the text or the packet that an amendment is about, as the store has it. The store locks it until the amendment is
// committed.
type Subject struct {
	Entry   Entry
	Fold    Fold
	Reacted bool // the user Amendment.By has put Amendment.Emoji on it

	Deserted    bool // the room is a direct room that the other user has left
	Frozen      bool // the room is frozen
	RoomDeleted bool
}

// AmendmentRuling is the decision on an amendment.
type AmendmentRuling struct {
	Changed bool
	Seq     int64           // of the entry that records the amendment; if not Changed, of the last edit or the recall, or Target
	Body    json.RawMessage // body of the entry that records the amendment
	Fold    Fold            // the target's Fold after the amendment
	Empty   bool            // the store must remove the texts of the target and its edits (EmptyText, EmptyEdit), and its reactions

	Mentioned    []string // users that the emptied text mentioned; the store must remove these mentions
	MentionedAll bool     // the emptied text mentioned all members; the store must remove this mention
	HasFiles     bool     // the emptied text had files; the store must drop them
}

// Amended is the result of Store.Amend.
type Amended struct {
	Changed bool
	Seq     int64
	Entry   Entry // the entry that records the amendment; set if Changed
}

// MostEmojis is the number of different emojis with which users may have reacted to one entry. It bounds the size of a page of
// history.
const MostEmojis = 50

// Apply decides what the amendment changes, or returns an error. next is the seq that the entry of the amendment will
// get. A nil subject means that the room has no such entry.
func (a Amendment) Apply(st Standing, s *Subject, next int64) (AmendmentRuling, error) {
	if a.By.IsSystem() && s != nil && !s.RoomDeleted {
		st = systemStanding
	}
	if err := a.refusal(st); err != nil {
		return AmendmentRuling{}, err
	}
	switch {
	case s == nil:
		return AmendmentRuling{}, &FieldError{Err: ErrNotFound, Field: "seq", Reason: "is no entry of the room"}
	case a.Kind == KindReact && !s.Entry.Kind.Content():
		return AmendmentRuling{}, BadField("seq", "must be a text or a packet")
	case a.Kind != KindReact && s.Entry.Kind != KindText:
		return AmendmentRuling{}, BadField("seq", "must be a text")
	}
	switch a.Kind {
	case KindEdit:
		return a.edit(s, next)
	case KindRecall:
		return a.recall(st, s, next)
	case KindReact:
		return a.react(s, next)
	}
	return AmendmentRuling{}, fmt.Errorf("no such amendment: %q", a.Kind)
}

// refusal returns an error unless By may make such an amendment in the room. A muted user may still recall.
func (a Amendment) refusal(st Standing) error {
	if a.Kind == KindRecall {
		return st.At(a.At).MayRead()
	}
	return st.MaySend(a.At)
}

func (a Amendment) edit(s *Subject, next int64) (AmendmentRuling, error) {
	switch {
	case s.Entry.From.ID != a.By.ID:
		return AmendmentRuling{}, ErrForbidden
	case s.Fold.RecallSeq != 0:
		return AmendmentRuling{}, ErrConflict
	}
	text, err := s.text()
	switch {
	case err != nil:
		return AmendmentRuling{}, err
	case text == a.Text && s.Fold.EditSeq != 0:
		return AmendmentRuling{Seq: s.Fold.EditSeq, Fold: s.Fold}, nil
	case text == a.Text:
		return AmendmentRuling{Seq: a.Target, Fold: s.Fold}, nil
	case s.Deserted:
		return AmendmentRuling{}, ErrContactRefused
	case s.Frozen && !a.By.IsSystem():
		return AmendmentRuling{}, FrozenRefusal(true, a.By)
	case a.windowOver(s):
		return AmendmentRuling{}, ErrEditWindowOver
	}
	fold := s.Fold
	fold.Text, fold.Preview, fold.EditedAt, fold.EditSeq = &a.Text, a.Preview, a.At.UnixMilli(), next
	return amends(next, fold, Edit{Target: a.Target, Text: a.Text, Preview: a.Preview})
}

func (a Amendment) recall(st Standing, s *Subject, next int64) (AmendmentRuling, error) {
	governs := st.Role.rank() >= Admin.rank()
	switch {
	case s.Entry.From.ID != a.By.ID && !governs:
		return AmendmentRuling{}, ErrForbidden
	case s.Fold.RecallSeq != 0:
		return AmendmentRuling{Seq: s.Fold.RecallSeq, Fold: s.Fold}, nil
	case a.windowOver(s) && !governs:
		return AmendmentRuling{}, ErrEditWindowOver
	}
	amended, err := amends(next, Fold{RecallSeq: next}, Recall{Target: a.Target})
	if err != nil {
		return AmendmentRuling{}, err
	}
	amended.Empty = true
	var text Text
	if json.Unmarshal(s.Entry.Body, &text) == nil { // a text that cannot be read can still be recalled
		amended.Mentioned, amended.MentionedAll, amended.HasFiles = text.Mentions, text.MentionAll, len(text.Files) > 0
	}
	return amended, nil
}

func (a Amendment) react(s *Subject, next int64) (AmendmentRuling, error) {
	had := s.Fold.Reactions[a.Emoji]
	switch {
	case s.Fold.RecallSeq != 0:
		return AmendmentRuling{}, ErrConflict
	case s.Reacted == a.On:
		return AmendmentRuling{Seq: a.Target, Fold: s.Fold}, nil
	case s.Deserted:
		return AmendmentRuling{}, ErrContactRefused
	case s.Frozen && !a.By.IsSystem():
		return AmendmentRuling{}, FrozenRefusal(true, a.By)
	case a.On && had == 0 && len(s.Fold.Reactions) >= MostEmojis:
		return AmendmentRuling{}, &FieldError{
			Err: ErrLimitExceeded, Field: "emoji", Reason: fmt.Sprintf("must be one of the %d that are there", MostEmojis),
		}
	}
	fold := s.Fold
	if fold.Reactions = maps.Clone(fold.Reactions); fold.Reactions == nil {
		fold.Reactions = map[string]int{}
	}
	count := had + 1
	if !a.On {
		count = had - 1
	}
	fold.Reactions[a.Emoji] = count
	if count == 0 {
		delete(fold.Reactions, a.Emoji)
	}
	return amends(next, fold, Reaction{Target: a.Target, Emoji: a.Emoji, On: a.On, Count: count})
}

func amends(seq int64, fold Fold, said any) (AmendmentRuling, error) {
	body, err := Body(said)
	return AmendmentRuling{Changed: true, Seq: seq, Body: body, Fold: fold}, err
}

// windowOver reports whether Window has passed since the text was sent.
func (a Amendment) windowOver(s *Subject) bool { return a.At.Sub(s.Entry.At) > a.Window }

// text returns the present text of the subject.
func (s *Subject) text() (string, error) {
	if s.Fold.Text != nil {
		return *s.Fold.Text, nil
	}
	var t Text
	if err := json.Unmarshal(s.Entry.Body, &t); err != nil {
		return "", fmt.Errorf("read the text of %s %d: %w", s.Entry.Room, s.Entry.Seq, err)
	}
	return t.Text, nil
}

// EmptyText is the body of a recalled text.
var EmptyText = json.RawMessage(`{"recalled":true}`)

// RetiredText is the body of a retired text.
var RetiredText = json.RawMessage(`{"recalled":true,"retired":true}`)

// EmptyEdit returns the body that an edit entry gets when the text that it edited is recalled.
func EmptyEdit(target int64) json.RawMessage {
	return fmt.Appendf(nil, `{"target":%d,"recalled":true}`, target)
}

// foldedText is the body of a text as history shows it after edits and reactions. A recalled text has EmptyText instead.
type foldedText struct {
	Text

	EditedAt  int64          `json:"edited_at,omitempty"`
	Reactions map[string]int `json:"reactions,omitempty"`
}

// Folded returns a text or packet entry as history shows it. Its body has the text of the last edit, if there was one, and the
// reactions. The body of a recalled text is EmptyText; a retired text stays as it is stored.
func (e Entry) Folded(f Fold) (Entry, error) {
	if f.RecallSeq != 0 {
		if f.RecallSeq != e.Seq {
			e.Body = EmptyText
		}
		return e, nil
	}
	if f.Text == nil && len(f.Reactions) == 0 {
		return e, nil
	}
	if e.Kind == KindPacket {
		return e.withReactions(f.Reactions)
	}
	body := foldedText{EditedAt: f.EditedAt, Reactions: f.Reactions}
	if err := json.Unmarshal(e.Body, &body.Text); err != nil {
		return Entry{}, fmt.Errorf("fold entry %s %d: %w", e.Room, e.Seq, err)
	}
	if f.Text != nil {
		body.Text.Text, body.Preview = *f.Text, f.Preview
	}
	var err error
	e.Body, err = Body(body)
	return e, err
}

// withReactions returns the entry with the reactions as one more field of its body, which must be an object.
func (e Entry) withReactions(counts map[string]int) (Entry, error) {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(e.Body, &body); err != nil || body == nil {
		return Entry{}, fmt.Errorf("fold entry %s %d: the body %.20q is no object", e.Room, e.Seq, e.Body)
	}
	reactions, err := Body(counts)
	if err != nil {
		return Entry{}, err
	}
	body["reactions"] = reactions
	e.Body, err = Body(body)
	return e, err
}

// Edit replaces the text of the user's own message, and its preview. It returns the seq of the entry that records the edit. If the message has
// this text already, nothing changes: Edit returns the seq of its last edit, or of the message if there was none.
func (s *Service) Edit(ctx context.Context, by User, room string, seq int64, text string, preview *Preview) (int64, error) {
	if err := s.CheckEdit(text); err != nil {
		return 0, err
	}
	if err := s.CheckWords(ctx, by, room, text); err != nil {
		return 0, err
	}
	return s.amend(ctx, Amendment{Kind: KindEdit, Room: room, Target: seq, By: by, Text: text, Preview: preview})
}

// CheckEdit returns an error if the text is empty, too long or otherwise not allowed in an edit.
func (s *Service) CheckEdit(text string) error { return checkText("text", text, s.limits.TextChars) }

// Recall removes the text of a message, the texts of its edits, and its reactions. It returns the seq of the entry that
// records the recall.
func (s *Service) Recall(ctx context.Context, by User, room string, seq int64) (int64, error) {
	return s.amend(ctx, Amendment{Kind: KindRecall, Room: room, Target: seq, By: by})
}

// React adds the user's emoji to a text or a packet, or removes it.
func (s *Service) React(ctx context.Context, by User, room string, seq int64, emoji string, on bool) error {
	if err := checkText("emoji", emoji, s.limits.EmojiChars); err != nil {
		return err
	}
	emoji, ok := NormalEmoji(emoji)
	if !ok {
		return BadField("emoji", "must be one emoji")
	}
	_, err := s.amend(ctx, Amendment{Kind: KindReact, Room: room, Target: seq, By: by, Emoji: emoji, On: on})
	return err
}

func (s *Service) amend(ctx context.Context, a Amendment) (seq int64, err error) {
	if err := checkID("room", a.Room); err != nil {
		return 0, err
	}
	if a.Target < 1 {
		return 0, BadField("seq", "must be at least 1")
	}
	a.At, a.Window = s.now(), s.limits.EditWindow
	a.ID = s.newID(a.At)
	done, err := s.store.Amend(ctx, a)
	s.NoteOutcome(a.Room, err)
	if err != nil {
		return 0, err
	}
	if done.Changed {
		s.pub.Entry(done.Entry)
	}
	return done.Seq, nil
}
