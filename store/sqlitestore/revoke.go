package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"

	"hongbao/store/eventlog"
)

// Revoke implements chat.Store.
func (s *Store) Revoke(ctx context.Context, user string, second int64) error {
	return outcome("revoke tokens", s.do(ctx, func(w *writer) error {
		res, err := w.exec(`insert into users (id, not_before) values (?, ?)
			on conflict (id) do update set not_before = max(not_before, excluded.not_before), code_hash = null
			where not_before < excluded.not_before or code_hash is not null`, user, second)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if n > 0 {
			w.refs.User(eventlog.UserRevoked, user, nil)
		}
		if err == nil {
			_, err = w.exec(`delete from push_subscriptions where user_id = ?`, user)
		}
		return err
	}))
}

// Revoked implements chat.Store.
func (s *Store) Revoked(ctx context.Context, users []string) (map[string]int64, error) {
	list, err := json.Marshal(users)
	if err != nil {
		return nil, err
	}
	revoked := map[string]int64{}
	_, err = rows(reader{ctx, s.read}, func(rs *sql.Rows) (_ struct{}, err error) {
		var user string
		var second int64
		err = rs.Scan(&user, &second)
		revoked[user] = second
		return struct{}{}, err
	}, `select id, `+refusedUntil+` from users where id in (select value from json_each(?)) and (not_before > 0 or suspended_at > 0)`, string(list))
	return revoked, outcome("read revocations", err)
}
