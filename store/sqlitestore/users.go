package sqlitestore

import (
	"context"

	"hongbao/chat"
)

// PutUser implements chat.Store.
func (s *Store) PutUser(ctx context.Context, u chat.User, issued int64) (notBefore int64, err error) {
	err = s.do(ctx, func(w *writer) error {
		_, err := w.exec(`insert into users (id, name, avatar) values (?, ?, ?)
			on conflict (id) do update set name = excluded.name, avatar = excluded.avatar
			where (name <> excluded.name or avatar <> excluded.avatar) and (not_before = 0 or not_before < ?)`,
			u.ID, u.Name, u.Avatar, issued)
		if err != nil {
			return err
		}
		_, err = w.row(`select not_before from users where id = ?`, []any{u.ID}, &notBefore)
		return err
	})
	return notBefore, outcome("put user", err)
}

// ensureUser creates the user if there is none. The name stays empty until a token of the user provides it.
func (w *writer) ensureUser(id string) error {
	_, err := w.exec(`insert into users (id) values (?) on conflict (id) do nothing`, id)
	return err
}

// knownUser fails if there is no user with this id.
func (w *writer) knownUser(id string) error {
	found, err := w.row(`select 1 from users where id = ?`, []any{id}, new(int))
	if err == nil && !found {
		return &chat.FieldError{Err: chat.ErrNotFound, Field: "members", Reason: "has a user whom nobody knows: " + id}
	}
	return err
}
