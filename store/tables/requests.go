package tables

import (
	"context"

	"hongbao/chat"
)

// Request is what a user's idempotency key was used for: the room, and the entry and the packet that the request made.
// Seq is 0 if it made no entry, and Ref is "" if it made no packet.
type Request struct {
	Room string
	Seq  int64
	Ref  string
}

// LookupRequest finds the earlier use of a user's key. It returns chat.ErrKeyReused if the key was used for other content.
func LookupRequest(q Querier, user, key string, hash []byte) (req Request, found bool, err error) {
	var stored []byte
	found, err = q.Row(`select hash, room_id, seq, ref from requests where user_id = $1 /*! and bucket = bucket_of($1) */ and key = $2`,
		[]any{user, key}, &stored, &req.Room, &req.Seq, &req.Ref)
	if err != nil || !found {
		return Request{}, false, err
	}
	if !q.Keys().SameRequest(stored, hash) {
		return Request{}, false, chat.ErrKeyReused
	}
	return req, true, nil
}

// PutRequest stores the use of the user's key for ever. If another transaction has inserted the key meanwhile, it
// returns ErrRetry: the next run of this transaction then finds the key.
func PutRequest(w Tx, user, key string, hash []byte, req Request) error {
	n, err := w.Exec(`insert into requests (/*! bucket, */ user_id, key, hash, room_id, seq, ref) values (/*! bucket_of($1), */ $1, $2, $3, $4, $5, $6)
		on conflict do nothing`, user, key, hash, req.Room, req.Seq, req.Ref)
	if err == nil && n == 0 {
		return ErrRetry
	}
	return err
}

// KeyUsed implements chat.Store and redpacket.Ledger.
func (t Tables) KeyUsed(ctx context.Context, user, key string) (used bool, _ error) {
	return read(ctx, t.db, "look up key", func(q Querier) (bool, error) {
		return q.Row(`select 1 from requests where user_id = $1 /*! and bucket = bucket_of($1) */ and key = $2`, []any{user, key}, new(int))
	})
}
