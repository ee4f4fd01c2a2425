package sqlitestore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// refusedUntil selects the second up to which the tokens of a user are refused; chat.SuspendedSecond: all are.
const refusedUntil = `iif(suspended_at > 0, 9223372036854775807, not_before)`

// PutUser implements chat.Store.
func (s *Store) PutUser(ctx context.Context, p chat.Profile, issued int64) (stored chat.User, notBefore int64, err error) {
	err = s.do(ctx, func(w *writer) error {
		res, err := w.exec(`insert into users (id, name, avatar) values (?1, ?2, ?3)
			on conflict (id) do update set
				name = case when ?5 and name <> '' then name else excluded.name end,
				avatar = case when ?6 then avatar else excluded.avatar end
			where (name <> excluded.name and not (?5 and name <> '') or avatar <> excluded.avatar and not ?6)
				and (not_before = 0 or not_before < ?4) and suspended_at = 0`,
			p.ID, p.Name, p.Avatar, issued, p.KeepName, p.KeepAvatar)
		if err != nil {
			return err
		}
		changed, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if changed > 0 {
			w.refs.User(eventlog.UserUpdated, p.ID, nil)
		}
		stored.ID = p.ID
		_, err = w.row(`select name, avatar, `+refusedUntil+` from users where id = ?`, []any{p.ID}, &stored.Name, &stored.Avatar, &notBefore)
		return err
	})
	return stored, notBefore, outcome("put user", err)
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
