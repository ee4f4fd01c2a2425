package pgstore

import (
	"context"

	"hongbao/chat"
)

// PutUser implements chat.Store.
func (s *Store) PutUser(ctx context.Context, u chat.User, issued int64) (notBefore int64, err error) {
	err = s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`insert into users as u (id, name, avatar) values ($1, $2, $3)
			on conflict (id) do update set name = excluded.name, avatar = excluded.avatar
			where (u.name <> excluded.name or u.avatar <> excluded.avatar) and (u.not_before = 0 or u.not_before < $4)`,
			u.ID, u.Name, u.Avatar, issued)
		if err != nil {
			return err
		}
		_, err = w.row(`select not_before from users where id = $1`, []any{u.ID}, &notBefore)
		return err
	})
	return notBefore, outcome("put user", err)
}

// Revoke implements chat.Store.
func (s *Store) Revoke(ctx context.Context, user string, second int64) error {
	return outcome("revoke tokens", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`insert into users as u (id, not_before) values ($1, $2)
			on conflict (id) do update set not_before = greatest(u.not_before, excluded.not_before)`, user, second)
		return err
	}))
}

// ensureUser creates the user if missing. The name stays empty until a token of the user provides it.
func (w *writer) ensureUser(id string) error {
	_, err := w.exec(`insert into users (id) values ($1) on conflict (id) do nothing`, id)
	return err
}

// lockUsers locks those of the users that exist, and returns them. A user is locked before joining a room, so that
// the limit of the user's rooms can be checked.
func (w *writer) lockUsers(ids []string) (known map[string]bool, err error) {
	locked, err := rows(w, scanText, `select id from users where id = any($1) order by id for update`, ids)
	known = make(map[string]bool, len(locked))
	for _, id := range locked {
		known[id] = true
	}
	return known, err
}
