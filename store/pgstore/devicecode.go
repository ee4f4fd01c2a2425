package pgstore

import (
	"context"
	"time"

	"hongbao/chat"
)

// PutDeviceCode implements chat.Store.
func (s *Store) PutDeviceCode(ctx context.Context, user string, issued int64, hash []byte, until time.Time) error {
	return outcome("put device code", s.tx(ctx, func(w *writer) error {
		updated, err := w.exec(`update users set code_hash = $1, code_until = $2 where id = $3 and (not_before = 0 or not_before < $4) and suspended_at = 0`,
			hash, until.UnixMilli(), user, issued)
		if err == nil && updated == 0 {
			err = chat.ErrNotFound
		}
		return err
	}))
}

// TakeDeviceCode implements chat.Store.
func (s *Store) TakeDeviceCode(ctx context.Context, user string, hash []byte, now time.Time) (taken chat.User, err error) {
	err = s.tx(ctx, func(w *writer) error {
		taken = chat.User{ID: user}
		found, err := w.row(`update users set code_hash = null where id = $1 and code_hash = $2 and code_until > $3 and suspended_at = 0 returning name, avatar`,
			[]any{user, hash, now.UnixMilli()}, &taken.Name, &taken.Avatar)
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		return err
	})
	if err != nil {
		return chat.User{}, outcome("take device code", err)
	}
	return taken, nil
}
