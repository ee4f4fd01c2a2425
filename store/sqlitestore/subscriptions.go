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

// Subscriptions implements chat.Store.
func (s *Store) Subscriptions(ctx context.Context, users []string) ([]chat.Subscription, error) {
	list, err := json.Marshal(users)
	if err != nil {
		return nil, err
	}
	found, err := rows(reader{ctx, s.read}, scanSubscription, `select user_id, endpoint, p256dh, auth, at from push_subscriptions
		where user_id in (select value from json_each(?))`, string(list))
	return found, outcome("read push subscriptions", err)
}

func scanSubscription(rs *sql.Rows) (sub chat.Subscription, err error) {
	var at int64
	err = rs.Scan(&sub.User, &sub.Endpoint, &sub.P256dh, &sub.Auth, &at)
	sub.At = time.UnixMilli(at)
	return sub, err
}

// Unsilenced implements chat.Store.
func (s *Store) Unsilenced(ctx context.Context, room string, of []string, after string, limit int) ([]string, error) {
	where, args := `room_id = ? and user_id > ? and state = 'in' and not silent`, []any{room, after}
	if len(of) > 0 {
		list, err := json.Marshal(of)
		if err != nil {
			return nil, err
		}
		where, args = where+` and user_id in (select value from json_each(?))`, append(args, string(list))
	}
	users, err := rows(reader{ctx, s.read}, scanID, `select user_id from members where `+where+` order by user_id limit ?`, append(args, limit)...)
	return users, outcome("list members that are not silent", err)
}
