package pgstore

import (
	"context"

	"hongbao/chat"
)

// Change implements chat.Store.
func (s *Store) Change(ctx context.Context, c chat.Change) (made chat.Changed, err error) {
	done, err := s.rooms.take(ctx, c.Room)
	if err != nil {
		return chat.Changed{}, unavailable("change room", err)
	}
	defer done()
	if c.Kind == chat.DeleteRoom {
		ctx = context.WithoutCancel(ctx) // of many steps: once begun it goes on when the caller has gone
		if err := s.empty(ctx, c); err != nil {
			return chat.Changed{}, outcome("empty room", err)
		}
	}
	var before chat.Changed // what the last run has done, if it was committed
	err = s.tx(ctx, func(w *writer) error {
		if made, err = w.change(c, before); err == nil {
			before = made
		}
		return err
	})
	if err != nil {
		return chat.Changed{}, outcome("change room", err)
	}
	return made, nil
}

// change looks without locks first: many who ask may not, or want what is there. Then it judges again under locks.
func (w *writer) change(c chat.Change, before chat.Changed) (chat.Changed, error) {
	if !w.again {
		s, err := w.scene(c, "")
		if err != nil {
			return chat.Changed{}, err
		}
		if r, err := c.Rule(s); err != nil || idle(r) {
			return chat.Changed{Room: s.Room, Role: s.By.Role}, err
		}
	}
	s, err := w.scene(c, " for update")
	if err != nil {
		return chat.Changed{}, err
	}
	if mine, err := w.kept(before.Entries...); err != nil || mine {
		return before, err
	}
	r, err := c.Rule(s)
	if w.again && before.Changed && len(before.Entries) == 0 && (err == nil && idle(r) || before.Room.Deleted && s.Room.Deleted) {
		return before, nil // or another's like it, which cannot be told from it: then both say so, which hurts nobody
	}
	if err != nil || idle(r) {
		return chat.Changed{Room: s.Room, Role: s.By.Role}, err
	}
	return w.enact(c, s, r)
}

// idle tells whether all stays as it is.
func idle(r chat.Ruling) bool { return len(r.Stand) == 0 && r.Room == nil && len(r.Entries) == 0 }
