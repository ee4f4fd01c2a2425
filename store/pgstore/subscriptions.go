package pgstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// PutSubscription implements chat.Store. It locks the user, so that two calls at once do not leave too many.
func (s *Store) PutSubscription(ctx context.Context, sub chat.Subscription, most int) error {
	return outcome("put push subscription", s.tx(ctx, func(w *writer) error {
		if err := w.ensureUser(sub.User); err != nil {
			return err
		}
		if _, err := w.lockUsers([]string{sub.User}); err != nil {
			return err
		}
		if _, err := w.exec(`insert into push_subscriptions (user_id, id, endpoint, p256dh, auth, at) values ($1, $2, $3, $4, $5, $6)
			on conflict (user_id, id) do update set p256dh = excluded.p256dh, auth = excluded.auth, at = excluded.at`,
			sub.User, sub.ID(), sub.Endpoint, sub.P256dh, sub.Auth, sub.At.UnixMilli()); err != nil {
			return err
		}
		_, err := w.exec(`delete from push_subscriptions where user_id = $1 and id in (
			select id from push_subscriptions where user_id = $1 and id <> $2 order by at desc, id offset $3)`, sub.User, sub.ID(), most-1)
		return err
	}))
}

// DeleteSubscription implements chat.Store.
func (s *Store) DeleteSubscription(ctx context.Context, sub chat.Subscription) error {
	return outcome("delete push subscription", s.tx(ctx, func(w *writer) error {
		where, args := `user_id = $1 and id = $2`, []any{sub.User, sub.ID()}
		if sub.Auth != nil {
			where, args = where+` and p256dh = $3 and auth = $4`, append(args, sub.P256dh, sub.Auth)
		}
		_, err := w.exec(`delete from push_subscriptions where `+where, args...)
		return err
	}))
}

// Subscriptions implements chat.Store.
func (s *Store) Subscriptions(ctx context.Context, users []string) (found []chat.Subscription, err error) {
	err = s.withReader(ctx, func(r reader) error {
		found, err = rows(r, scanSubscription, `select user_id, endpoint, p256dh, auth, at from push_subscriptions where user_id = any($1)`, users)
		return err
	})
	return found, outcome("read push subscriptions", err)
}

func scanSubscription(rs pgx.Rows) (sub chat.Subscription, err error) {
	var at int64
	err = rs.Scan(&sub.User, &sub.Endpoint, &sub.P256dh, &sub.Auth, &at)
	sub.At = time.UnixMilli(at)
	return sub, err
}

// Unsilenced implements chat.Store.
func (s *Store) Unsilenced(ctx context.Context, room string, of []string, after string, limit int) (users []string, err error) {
	where, args := `room_id = $1 and user_id > $2 and state = 'in' and not silent`, []any{room, after, limit}
	if len(of) > 0 {
		where, args = where+` and user_id = any($4)`, append(args, of)
	}
	err = s.withReader(ctx, func(r reader) error {
		users, err = rows(r, scanText, `select user_id from members where `+where+` order by user_id limit $3`, args...)
		return err
	})
	return users, outcome("list members that are not silent", err)
}
