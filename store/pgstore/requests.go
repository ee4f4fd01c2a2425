package pgstore

import (
	"bytes"
	"context"

	"hongbao/chat"
)

// request is what a user's idempotency key was used for: the room, and the entry and the packet that the request
// made.
type request struct {
	room string
	seq  int64
	ref  string
}

// lookupRequest finds the earlier use of a user's key. It returns chat.ErrKeyReused if the key was used for other
// content.
func (w *writer) lookupRequest(user, key string, hash []byte) (req request, found bool, err error) {
	var stored []byte
	found, err = w.row(`select hash, room_id, seq, ref from requests where user_id = $1 and key = $2`,
		[]any{user, key}, &stored, &req.room, &req.seq, &req.ref)
	if err != nil || !found {
		return request{}, false, err
	}
	if !bytes.Equal(stored, hash) {
		return request{}, false, chat.ErrKeyReused
	}
	return req, true, nil
}

// putRequest stores the use of the user's key for ever. If another transaction has inserted the key meanwhile, this
// transaction is run again and then finds the key.
func (w *writer) putRequest(user, key string, hash []byte, room string, seq int64, ref string) error {
	n, err := w.exec(`insert into requests (user_id, key, hash, room_id, seq, ref) values ($1, $2, $3, $4, $5, $6)
		on conflict do nothing`, user, key, hash, room, seq, ref)
	if err == nil && n == 0 {
		return errRetry
	}
	return err
}

// KeyUsed implements chat.Store.
func (s *Store) KeyUsed(ctx context.Context, user, key string) (used bool, err error) {
	err = s.withReader(ctx, func(r reader) error {
		_, err := r.row(`select exists (select 1 from requests where user_id = $1 and key = $2)`, []any{user, key}, &used)
		return err
	})
	return used, outcome("look up key", err)
}
