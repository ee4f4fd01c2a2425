package sqlitestore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/tables"
)

// Standing implements chat.Store.
func (s *Store) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	st, err := tables.ReadStanding(s.reader(ctx), room, user)
	return st, tables.Outcome("read standing", err)
}
