package tables

import (
	"context"

	"hongbao/chat"
	"hongbao/store/cursor"
)

const ownLooks = 2000 // entries of a room among which one page looks for those of the user

// EntriesOf implements chat.Store. A page is about one room.
func (t Tables) EntriesOf(ctx context.Context, user, next string, limit int) (entries []chat.Entry, more string, err error) {
	var before struct {
		room string
		seq  int64
	}
	if next != "" {
		if err := cursor.Parse("entries-of", next, &before.room, &before.seq); err != nil {
			return nil, "", err
		}
	}
	err = t.db.Read(ctx, func(q Querier) error {
		entries, more = nil, ""
		var room string
		var last int64
		found, err := q.Row(`select m.room_id, r.last_seq from members m join rooms r on r.id = m.room_id
			where m.user_id = $1 and m.room_id >= $2 and (m.room_id > $2 or r.last_seq > $3) order by m.room_id limit 1`,
			[]any{user, before.room, before.seq}, &room, &last)
		if err != nil || !found {
			return err
		}
		since := before.seq
		if room != before.room {
			since = 0
		}
		through := min(since+ownLooks, last)
		entries, err = List(q, scanFolded, `select `+EntryColumns+`, fold from entries
			where room_id = $1 /*! and bucket = bucket_of($1) */ and seq > $2 and seq <= $3 and sender = $4 order by seq limit $5`, room, since, through, user, limit)
		if len(entries) == limit {
			through = entries[limit-1].Seq
		}
		more = cursor.Make("entries-of", room, through)
		return err
	})
	return entries, more, Outcome("read the entries of a user", err)
}

// SubscriptionsOf implements chat.Store.
func (t Tables) SubscriptionsOf(ctx context.Context, user string) ([]chat.Subscription, error) {
	return list(ctx, t.db, "read push subscriptions", scanSubscription, `select user_id, endpoint, p256dh, auth, at from push_subscriptions where user_id = $1 order by id`, user)
}
