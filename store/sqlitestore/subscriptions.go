package sqlitestore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"hongbao/chat"
)

// PutSubscription implements chat.Store.
func (s *Store) PutSubscription(ctx context.Context, sub chat.Subscription, most int) error {
	return outcome("put push subscription", s.do(ctx, func(w *writer) error {
		if err := w.ensureUser(sub.User); err != nil {
			return err
		}
		var refused int64
		if _, err := w.row(`select `+refusedUntil+` from users where id = ?`, []any{sub.User}, &refused); err != nil {
			return err
		}
		if sub.At.Unix() <= refused {
			return chat.ErrUnavailable
		}
		if _, err := w.exec(`insert into push_subscriptions (user_id, id, endpoint, p256dh, auth, at) values (?, ?, ?, ?, ?, ?)
			on conflict (user_id, id) do update set p256dh = excluded.p256dh, auth = excluded.auth, at = excluded.at`,
			sub.User, sub.ID(), sub.Endpoint, sub.P256dh, sub.Auth, sub.At.UnixMilli()); err != nil {
			return err
		}
		_, err := w.exec(`delete from push_subscriptions where user_id = ?1 and id in (
			select id from push_subscriptions where user_id = ?1 and id <> ?2 order by at desc, id limit -1 offset ?3)`, sub.User, sub.ID(), most-1)
		return err
	}))
}

// DeleteSubscription implements chat.Store.
func (s *Store) DeleteSubscription(ctx context.Context, sub chat.Subscription) error {
	return outcome("delete push subscription", s.do(ctx, func(w *writer) error {
		where, args := `user_id = ? and id = ?`, []any{sub.User, sub.ID()}
		if sub.Auth != nil {
			where, args = where+` and p256dh = ? and auth = ?`, append(args, sub.P256dh, sub.Auth)
		}
		_, err := w.exec(`delete from push_subscriptions where `+where, args...)
		return err
	}))
}

// Subscriptions implements chat.Store. The cross join makes SQLite begin with the members: they are in order, and a room has fewer of them
// than the database has subscriptions.
func (s *Store) Subscriptions(ctx context.Context, a chat.Audience) ([]chat.Subscription, error) {
	where, args := ``, []any{a.Room, a.Seq, a.After.User, a.After.ID(), a.Limit}
	if len(a.Of) > 0 {
		list, err := json.Marshal(a.Of)
		if err != nil {
			return nil, err
		}
		where, args = ` and m.user_id in (select value from json_each(?6))`, append(args, string(list))
	}
	found, err := rows(reader{ctx, s.read}, scanSubscription, `select s.user_id, s.endpoint, s.p256dh, s.auth, s.at
		from members m cross join push_subscriptions s on s.user_id = m.user_id
		where m.room_id = ?1 and m.state = 'in' and not m.silent and m.read_seq < ?2 and m.user_id >= ?3 and (s.user_id > ?3 or s.id > ?4)`+where+`
		order by m.user_id, s.id limit ?5`, args...)
	return found, outcome("list push subscriptions", err)
}

func scanSubscription(rs *sql.Rows) (sub chat.Subscription, err error) {
	var at int64
	err = rs.Scan(&sub.User, &sub.Endpoint, &sub.P256dh, &sub.Auth, &at)
	sub.At = time.UnixMilli(at)
	return sub, err
}
