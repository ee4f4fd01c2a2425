package chat

import (
	"encoding/json"
	"fmt"
	"maps"
)

// maxEmojis is how many different ones a text may have: it bounds what a page of history carries.
const maxEmojis = 50

// Apply decides what becomes of the amendment. Next is the seq that its entry will have; without a subject there is no
// such entry.
func (a Amendment) Apply(st Standing, s *Subject, next int64) (Amends, error) {
	if err := a.refusal(st); err != nil {
		return Amends{}, err
	}
	switch {
	case s == nil:
		return Amends{}, &FieldError{Err: ErrNotFound, Field: "seq", Reason: "is no entry of the room"}
	case s.Entry.Kind != KindText:
		return Amends{}, BadField("seq", "must be a text")
	}
	switch a.Kind {
	case KindEdit:
		return a.edit(s, next)
	case KindRecall:
		return a.recall(st, s, next)
	case KindReact:
		return a.react(s, next)
	}
	return Amends{}, fmt.Errorf("no such amendment: %q", a.Kind)
}

// refusal is nil when By may amend something here. A mute keeps nobody from taking back.
func (a Amendment) refusal(st Standing) error {
	if a.Kind == KindRecall {
		return st.MayRead()
	}
	return st.MaySend(a.At)
}

func (a Amendment) edit(s *Subject, next int64) (Amends, error) {
	switch {
	case s.Entry.From.ID != a.By.ID:
		return Amends{}, ErrForbidden
	case s.Fold.RecallSeq != 0:
		return Amends{}, ErrConflict
	}
	text, err := s.text()
	switch {
	case err != nil:
		return Amends{}, err
	case text == a.Text && s.Fold.EditSeq != 0:
		return Amends{Seq: s.Fold.EditSeq, Fold: s.Fold}, nil
	case text == a.Text:
		return Amends{Seq: a.Target, Fold: s.Fold}, nil
	case a.late(s):
		return Amends{}, ErrEditWindowOver
	}
	fold := s.Fold
	fold.Text, fold.EditedAt, fold.EditSeq = &a.Text, a.At.UnixMilli(), next
	return amends(next, fold, Edit{Target: a.Target, Text: a.Text})
}

func (a Amendment) recall(st Standing, s *Subject, next int64) (Amends, error) {
	governs := st.Role.rank() >= Admin.rank()
	switch {
	case s.Entry.From.ID != a.By.ID && !governs:
		return Amends{}, ErrForbidden
	case s.Fold.RecallSeq != 0:
		return Amends{Seq: s.Fold.RecallSeq, Fold: s.Fold}, nil
	case a.late(s) && !governs:
		return Amends{}, ErrEditWindowOver
	}
	made, err := amends(next, Fold{RecallSeq: next}, Recall{Target: a.Target})
	made.Empty = true
	return made, err
}

func (a Amendment) react(s *Subject, next int64) (Amends, error) {
	had := s.Fold.Reactions[a.Emoji]
	switch {
	case s.Fold.RecallSeq != 0:
		return Amends{}, ErrConflict
	case s.Reacted == a.On:
		return Amends{Seq: a.Target, Fold: s.Fold}, nil
	case a.On && had == 0 && len(s.Fold.Reactions) >= maxEmojis:
		return Amends{}, &FieldError{
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

func amends(seq int64, fold Fold, said any) (Amends, error) {
	body, err := Body(said)
	return Amends{Changed: true, Seq: seq, Body: body, Fold: fold}, err
}

// late tells whether the time is over in which one may change what one has said.
func (a Amendment) late(s *Subject) bool { return a.At.Sub(s.Entry.At) > a.Window }

// text as it reads now.
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
