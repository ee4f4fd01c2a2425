package pgstore

import (
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
)

// queueAmendment makes the batch write the new state of the amended text or packet, which was sent at the time at.
func queueAmendment(b *pgx.Batch, a chat.Amendment, to chat.AmendmentRuling, at time.Time) error {
	fold, err := chat.Body(to.Fold)
	if err != nil {
		return err
	}
	b.Queue(`update entries set fold = $3 where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, a.Room, a.Target, string(fold))
	switch {
	case to.Empty:
		queueErase(b, a.Room, a.Target)
		if len(to.Mentioned) > 0 {
			b.Queue(`delete from mentions where user_id = any($1) /*! and bucket = any(buckets_of($1::text[])) */ and at = $2 and room_id = $3 and seq = $4`, to.Mentioned, at.UnixMilli(), a.Room, a.Target)
		}
	case a.Kind == chat.KindReact && a.On:
		b.Queue(`insert into reactions (/*! bucket, */ room_id, seq, emoji, user_id) values (/*! bucket_of($1), */ $1, $2, $3, $4)`, a.Room, a.Target, a.Emoji, a.By.ID)
	case a.Kind == chat.KindReact:
		b.Queue(`delete from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2 and emoji = $3 and user_id = $4`, a.Room, a.Target, a.Emoji, a.By.ID)
	}
	return nil
}

// sealed does on Citus what the trigger seal_erased_body does on one Postgres.
const sealed = `/*! , text_seal = erased_seal(text_seal, body, $3) */`

// queueErase makes the batch remove the content of a text: its body, the bodies of its edits, and its reactions. The trigger
// seal_erased_body replaces the seals, on Citus the statement itself (sealed).
func queueErase(b *pgx.Batch, room string, seq int64) {
	b.Queue(`update entries set body = $3 `+sealed+` where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room, seq, string(chat.EmptyText))
	b.Queue(`update entries set body = $3 `+sealed+` where room_id = $1 /*! and bucket = bucket_of($1) */ and target = $2 and kind = 'edit'`, room, seq, string(chat.EmptyEdit(seq)))
	b.Queue(`delete from reactions where room_id = $1 /*! and bucket = bucket_of($1) */ and seq = $2`, room, seq)
}
