package sqlitestore

import (
	"context"
	"time"

	"hongbao/chat"
)

// PutDeviceCode implements chat.Store.
func (s *Store) PutDeviceCode(ctx context.Context, user string, issued int64, hash []byte, until time.Time) error {
	return outcome("put device code", s.do(ctx, func(w *writer) error {
		found, err := w.row(`update users set code_hash = ?, code_until = ? where id = ? and (not_before = 0 or not_before < ?) and suspended_at = 0 returning 1`,
			[]any{hash, until.UnixMilli(), user, issued}, new(int))
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		return err
	}))
}

// TakeDeviceCode implements chat.Store.
func (s *Store) TakeDeviceCode(ctx context.Context, user string, hash []byte, now time.Time) (taken chat.User, err error) {
	err = s.do(ctx, func(w *writer) error {
		taken = chat.User{ID: user}
		found, err := w.row(`update users set code_hash = null where id = ? and code_hash = ? and code_until > ? and suspended_at = 0 returning name, avatar`,
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
