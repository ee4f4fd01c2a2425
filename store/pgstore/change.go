package pgstore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/tables"
)

// Change implements chat.Store. Of the changes of one room, one at a time uses a connection.
func (s *Store) Change(ctx context.Context, c chat.Change) (chat.Changed, error) {
	ctx = arrived(ctx)
	done, err := s.roomLocks.lock(ctx, c.Room)
	if err != nil {
		return chat.Changed{}, tables.Unavailable("change room", err)
	}
	defer done()
	return s.Tables.Change(ctx, c)
}
