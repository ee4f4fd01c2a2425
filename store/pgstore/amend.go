package pgstore

import (
	"context"

	"hongbao/chat"
	"hongbao/store/tables"
)

// Amend implements chat.Store. Of the amendments of one room, one at a time uses a connection.
func (s *Store) Amend(ctx context.Context, a chat.Amendment) (chat.Amended, error) {
	ctx = arrived(ctx)
	done, err := s.roomLocks.lock(ctx, a.Room)
	if err != nil {
		return chat.Amended{}, tables.Unavailable("amend entry", err)
	}
	defer done()
	return s.Tables.Amend(ctx, a)
}

// sealed does on Citus what the trigger seal_erased_body does on one Postgres.
const sealed = `/*! , text_seal = erased_seal(text_seal, body, $3) */`

// Erase implements tables.Tx. The trigger seal_erased_body replaces the seals, on Citus the statement itself (sealed).
func (w *writer) Erase(room string, seq int64) error {
	var b tables.Batch
	b.Exec(`update entries set body = $3 `+sealed+` where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room, seq, string(chat.EmptyText))
	b.Exec(`update entries set body = $3 `+sealed+` where room_id = $1 /*! and bucket = bucket_of($1) */ and target = $2 and kind = 'edit'`, room, seq, string(chat.EmptyEdit(seq)))
	b.Exec(`delete from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room, seq)
	return w.Send(&b)
}

// Wiped implements tables.Tx. Postgres removes old versions of rows by itself: see web/docs/privacy.md.
func (w *writer) Wiped() {}
