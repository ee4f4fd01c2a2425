package pgstore

import (
	"context"
	"time"

	"hongbao/chat"
)

// PutPicture implements chat.Store.
func (s *Store) PutPicture(ctx context.Context, user string, issued int64, p chat.Picture, at time.Time) error {
	return outcome("put picture", s.tx(ctx, func(w *writer) error {
		stored, err := w.exec(`insert into pictures (user_id, hash, data, at)
			select id, $2, $3, $4 from users where id = $1 and (not_before = 0 or not_before < $5) and suspended_at = 0
			on conflict (user_id, hash) do update set at = excluded.at`,
			user, p.Hash, p.Data, at.UnixMilli(), issued)
		if err != nil {
			return err
		}
		if stored == 0 {
			return chat.ErrNotFound
		}
		_, err = w.exec(`delete from pictures where user_id = $1 and hash not in
			(select hash from pictures where user_id = $1 order by at desc, hash limit $2)`, user, chat.PicturesKept)
		return err
	}))
}

// Picture implements chat.Store.
func (s *Store) Picture(ctx context.Context, hash []byte) (data []byte, err error) {
	err = s.withReader(ctx, func(r reader) error {
		found, err := r.row(`select data from pictures where hash = $1 limit 1`, []any{hash}, &data)
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		return err
	})
	return data, outcome("read picture", err)
}

// DeletePictures implements chat.Store.
func (s *Store) DeletePictures(ctx context.Context, user string) error {
	return outcome("delete pictures", s.tx(ctx, func(w *writer) error {
		_, err := w.exec(`delete from pictures where user_id = $1`, user)
		return err
	}))
}
