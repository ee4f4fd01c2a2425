package sqlitestore

import "context"

// Revoke implements chat.Store.
func (s *Store) Revoke(ctx context.Context, user string, second int64) error {
	return outcome("revoke tokens", s.do(ctx, func(w *writer) error {
		_, err := w.exec(`insert into users (id, not_before) values (?, ?)
			on conflict (id) do update set not_before = max(not_before, excluded.not_before)`, user, second)
		return err
	}))
}
