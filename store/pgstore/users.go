package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/store/eventlog"
)

// refusedUntil selects the second up to which the tokens of a user are refused; chat.SuspendedSecond: all are.
const refusedUntil = `case when suspended_at > 0 then 9223372036854775807 else not_before end`

// PutUser implements chat.Store.
func (s *Store) PutUser(ctx context.Context, p chat.Profile, issued int64) (stored chat.User, notBefore int64, err error) {
	err = s.tx(ctx, func(w *writer) error {
		changed, err := w.exec(`insert into users as u (id, name, avatar) values ($1, $2, $3)
			on conflict (id) do update set
				name = case when $5 and u.name <> '' then u.name else excluded.name end,
				avatar = case when $6 then u.avatar else excluded.avatar end
			where (u.name <> excluded.name and not ($5 and u.name <> '') or u.avatar <> excluded.avatar and not $6)
				and (u.not_before = 0 or u.not_before < $4) and u.suspended_at = 0`,
			p.ID, p.Name, p.Avatar, issued, p.KeepName, p.KeepAvatar)
		if err != nil {
			return err
		}
		if changed > 0 {
			w.refs.User(eventlog.UserUpdated, p.ID, nil)
		}
		stored.ID = p.ID
		_, err = w.row(`select name, avatar, `+refusedUntil+` from users where id = $1`, []any{p.ID}, &stored.Name, &stored.Avatar, &notBefore)
		return err
	})
	return stored, notBefore, outcome("put user", err)
}

// Revoke implements chat.Store.
func (s *Store) Revoke(ctx context.Context, user string, second int64) error {
	return outcome("revoke tokens", s.tx(ctx, func(w *writer) error {
		changed, err := w.exec(`insert into users as u (id, not_before) values ($1, $2)
			on conflict (id) do update set not_before = greatest(u.not_before, excluded.not_before), code_hash = null
			where u.not_before < excluded.not_before or u.code_hash is not null`, user, second)
		if changed > 0 {
			w.refs.User(eventlog.UserRevoked, user, nil)
		}
		if err == nil {
			_, err = w.exec(`delete from push_subscriptions where user_id = $1`, user)
		}
		return err
	}))
}

// Revoked implements chat.Store.
func (s *Store) Revoked(ctx context.Context, users []string) (map[string]int64, error) {
	revoked := map[string]int64{}
	err := s.withReader(ctx, func(r reader) error {
		_, err := rows(r, func(rs pgx.Rows) (_ struct{}, err error) {
			var user string
			var second int64
			err = rs.Scan(&user, &second)
			revoked[user] = second
			return struct{}{}, err
		}, `select id, `+refusedUntil+` from users where id = any($1) and (not_before > 0 or suspended_at > 0)`, users)
		return err
	})
	return revoked, outcome("read revocations", err)
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
