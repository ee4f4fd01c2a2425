package pgstore

import (
	"bytes"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

// sender is what a packet's sender is judged by. His row in users is held, so that his sends come one after another.
type sender struct {
	request  request
	dup      bool
	standing chat.Standing
	seed     redpacket.Seed
}

// holdSender locks the sender's row and reads what he has done with the key, how he stands and his seed, which it
// draws if he has none yet. chat.ErrKeyReused.
func (w *writer) holdSender(o redpacket.Order) (from sender, err error) {
	var (
		b     pgx.Batch
		user  = o.Packet.From.ID
		drawn bool
		hash  []byte
		stood []chat.Standing
	)
	b.Queue(`select next_seed from users where id = $1 for update`, user).QueryRow(func(row pgx.Row) error {
		return ifAny(row.Scan(storedSeed{&from.seed, &drawn}))
	})
	b.Queue(`select hash, room_id, seq, ref from requests where user_id = $1 and key = $2`, user, o.Packet.Key).
		QueryRow(func(row pgx.Row) error {
			return ifAny(row.Scan(&hash, &from.request.room, &from.request.seq, &from.request.ref))
		})
	queueStanding(&b, o.Packet.Room, user, "", &stood)
	if err := w.batch(&b); err != nil {
		return sender{}, err
	}
	if from.dup = hash != nil; from.dup {
		if !bytes.Equal(hash, o.Hash) {
			return sender{}, chat.ErrKeyReused
		}
		return from, nil
	}
	if len(stood) > 0 {
		from.standing = stood[0]
	} else if from.standing, err = readStanding(w, o.Packet.Room, user); err != nil {
		return sender{}, err
	}
	if !drawn {
		from.seed, err = w.firstSeed(user)
	}
	return from, err
}

// queueStanding has the batch read how the user stands to the room, if he was ever in it.
func queueStanding(b *pgx.Batch, room, user, lock string, stood *[]chat.Standing) {
	b.Queue(`select `+standingColumns+` from members where room_id = $1 and user_id = $2`+lock, room, user).
		Query(func(rs pgx.Rows) (err error) {
			*stood, err = collect(rs, scanStanding)
			return err
		})
}

// firstSeed draws the first seed of a user, who may be unseen yet, or gives the one that has just been drawn.
func (w *writer) firstSeed(user string) (seed redpacket.Seed, err error) {
	var b pgx.Batch
	queueSeeds(&b, []string{user})
	b.Queue(`select next_seed from users where id = $1 for update`, user).QueryRow(func(row pgx.Row) error {
		return row.Scan(storedSeed{&seed, new(bool)})
	})
	return seed, w.batch(&b)
}
