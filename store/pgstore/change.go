package pgstore

import (
	"context"

	"hongbao/chat"
)

// Direct implements chat.Store.
func (s *Store) Direct(ctx context.Context, p chat.Pairing) (chat.Paired, error) {
	return chat.Paired{}, chat.ErrUnavailable
}

// Change implements chat.Store.
func (s *Store) Change(ctx context.Context, c chat.Change) (chat.Changed, error) {
	return chat.Changed{}, chat.ErrUnavailable
}

// Amend implements chat.Store.
func (s *Store) Amend(ctx context.Context, a chat.Amendment) (chat.Amended, error) {
	return chat.Amended{}, chat.ErrUnavailable
}

// Roster implements chat.Store.
func (s *Store) Roster(ctx context.Context, room string, limit int) ([]string, error) {
	return nil, chat.ErrUnavailable
}

// Revoke implements chat.Store.
func (s *Store) Revoke(ctx context.Context, user string, second int64) error {
	return chat.ErrUnavailable
}
