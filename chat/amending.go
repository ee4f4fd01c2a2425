package chat

import "context"

// Edit replaces the text of the user's own message. It returns the seq of the entry that records the edit.
func (s *Service) Edit(ctx context.Context, by User, room string, seq int64, text string) (int64, error) {
	if err := checkText("text", text, s.limits.TextChars); err != nil {
		return 0, err
	}
	return s.amend(ctx, Amendment{Kind: KindEdit, Room: room, Target: seq, By: by, Text: text})
}

// Recall removes the text of a message. It returns the seq of the entry that records the recall.
func (s *Service) Recall(ctx context.Context, by User, room string, seq int64) (int64, error) {
	return s.amend(ctx, Amendment{Kind: KindRecall, Room: room, Target: seq, By: by})
}

// React adds the user's emoji to a text, or removes it.
func (s *Service) React(ctx context.Context, by User, room string, seq int64, emoji string, on bool) error {
	if err := checkText("emoji", emoji, s.limits.EmojiChars); err != nil {
		return err
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
	if err != nil {
		return 0, err
	}
	if done.Changed {
		s.pub.Entry(done.Entry)
	}
	return done.Seq, nil
}
