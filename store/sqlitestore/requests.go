package sqlitestore

import (
	"context"

	"hongbao/chat"
)

// request is what a user's idempotency key was used for: the room, and the entry and packet that the request created.
type request struct {
	room string
	seq  int64
	ref  string
}

// lookupRequest looks up the user's key. It fails with chat.ErrKeyReused if the key was used with other content.
func (w *writer) lookupRequest(user, key string, hash []byte) (req request, found bool, err error) {
	var stored []byte
	found, err = w.row(`select hash, room_id, seq, ref from requests where user_id = ? and key = ?`,
		[]any{user, key}, &stored, &req.room, &req.seq, &req.ref)
	if err != nil || !found {
		return request{}, false, err
	}
	if !w.keys.SameRequest(stored, hash) {
		return request{}, false, chat.ErrKeyReused
	}
	return req, true, nil
}

// putRequest stores what the user's key was used for. The row is never deleted.
func (w *writer) putRequest(user, key string, hash []byte, room string, seq int64, ref string) error {
	_, err := w.exec(`insert into requests (user_id, key, hash, room_id, seq, ref) values (?, ?, ?, ?, ?, ?)`,
		user, key, hash, room, seq, ref)
	return err
}

// KeyUsed implements chat.Store.
func (s *Store) KeyUsed(ctx context.Context, user, key string) (used bool, err error) {
	err = s.read.QueryRowContext(ctx,
		`select exists (select 1 from requests where user_id = ? and key = ?)`, user, key).Scan(&used)
	return used, outcome("look up key", err)
}
