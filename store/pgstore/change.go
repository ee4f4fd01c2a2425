package pgstore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/tables"
)

// Change implements chat.Store.
func (s *Store) Change(ctx context.Context, c chat.Change) (made chat.Changed, err error) {
	done, err := s.roomLocks.lock(ctx, c.Room)
	if err != nil {
		return chat.Changed{}, tables.Unavailable("change room", err)
	}
	defer done()
	if c.Kind == chat.DeleteRoom {
		ctx = context.WithoutCancel(ctx) // a deletion takes many steps, and must not stop halfway when the caller's context ends
		if err := s.emptyRoom(ctx, c); err != nil {
			return chat.Changed{}, tables.Outcome("empty room", err)
		}
	}
	var before chat.Changed // result of the previous run of the transaction, which may have been committed
	err = s.tx(ctx, func(w *writer) error {
		if made, err = w.change(c, before); err == nil {
			before = made
		}
		return err
	})
	if err != nil {
		return chat.Changed{}, tables.Outcome("change room", err)
	}
	return made, nil
}

// change first judges the change without locks, because many changes are forbidden or already in effect. If the change
// is to be made, it judges again under locks. If an earlier run may have been committed, it judges only under locks.
func (w *writer) change(c chat.Change, before chat.Changed) (chat.Changed, error) {
	if !w.maybeCommitted {
		s, err := w.readScene(c, "")
		if err != nil {
			return chat.Changed{}, err
		}
		if r, err := c.Rule(s); err != nil || changesNothing(r) {
			return chat.Changed{Room: s.Room, Role: s.By.Role, Refused: r.Refused}, err
		}
	}
	s, err := w.readScene(c, " for update")
	if err != nil {
		return chat.Changed{}, err
	}
	if mine, err := w.committedBefore(before.Entries...); err != nil || mine {
		return before, err
	}
	r, err := c.Rule(s)
	if w.maybeCommitted && before.Changed && len(before.Entries) == 0 && (err == nil && changesNothing(r) || before.Room.Deleted && s.Room.Deleted) {
		return before, nil // an identical call may have made the change instead; then both report it, which is harmless
	}
	if err != nil || changesNothing(r) {
		return chat.Changed{Room: s.Room, Role: s.By.Role, Refused: r.Refused}, err
	}
	return w.applyRuling(c, s, r)
}

// changesNothing reports whether the ruling leaves everything as it is.
func changesNothing(r chat.Ruling) bool {
	return len(r.Standings) == 0 && r.Room == nil && len(r.Entries) == 0 && !r.Asks && !r.Answered
}
