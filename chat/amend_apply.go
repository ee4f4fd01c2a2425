package chat

import (
	"encoding/json"
	"fmt"
	"maps"
)

// maxEmojis is the number of different emojis that a text may have. It bounds the size of a page of history.
const maxEmojis = 50

// Apply decides what the amendment changes, or returns an error. next is the seq that the entry of the amendment will
// get. A nil subject means that the room has no such entry.
func (a Amendment) Apply(st Standing, s *Subject, next int64) (AmendmentRuling, error) {
	if err := a.refusal(st); err != nil {
		return AmendmentRuling{}, err
	}
	switch {
	case s == nil:
		return AmendmentRuling{}, &FieldError{Err: ErrNotFound, Field: "seq", Reason: "is no entry of the room"}
	case s.Entry.Kind != KindText:
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

// refusal returns an error unless By may amend texts in the room. A muted user may still recall.
func (a Amendment) refusal(st Standing) error {
	if a.Kind == KindRecall {
		return st.MayRead()
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
	case a.windowOver(s):
		return AmendmentRuling{}, ErrEditWindowOver
	}
	fold := s.Fold
	fold.Text, fold.EditedAt, fold.EditSeq = &a.Text, a.At.UnixMilli(), next
	return amends(next, fold, Edit{Target: a.Target, Text: a.Text})
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
	made, err := amends(next, Fold{RecallSeq: next}, Recall{Target: a.Target})
	made.Empty = true
	return made, err
}

func (a Amendment) react(s *Subject, next int64) (AmendmentRuling, error) {
	had := s.Fold.Reactions[a.Emoji]
	switch {
	case s.Fold.RecallSeq != 0:
		return AmendmentRuling{}, ErrConflict
	case s.Reacted == a.On:
		return AmendmentRuling{Seq: a.Target, Fold: s.Fold}, nil
	case a.On && had == 0 && len(s.Fold.Reactions) >= maxEmojis:
		return AmendmentRuling{}, &FieldError{
			Err: ErrLimitExceeded, Field: "emoji", Reason: fmt.Sprintf("must be one of the %d that are there", maxEmojis),
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

// windowOver reports whether a user may no longer edit or recall the user's own text.
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
