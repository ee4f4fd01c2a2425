package pgstore

import (
	"bytes"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
)

// sender is what is stored about the sender of a packet, and decides whether the send is allowed. The sender's row in
// users is locked, so that the user's sends run one after another.
type sender struct {
	request  request
	dup      bool
	standing chat.Standing
	seed     redpacket.Seed
}

// lockSender locks the sender's row in users and reads the earlier use of the key, the standing and the seed. If
// there is no seed, it draws one. It returns chat.ErrKeyReused if the key was used with other content.
func (w *writer) lockSender(o redpacket.UnsealedPacket) (from sender, err error) {
	var (
		b         pgx.Batch
		user      = o.Packet.From.ID
		drawn     bool
		hash      []byte
		standings []chat.Standing
	)
	b.Queue(`select next_seed from users where id = $1 for update`, user).QueryRow(func(row pgx.Row) error {
		return noRowsOK(row.Scan(storedSeed{&from.seed, &drawn}))
	})
	b.Queue(`select hash, room_id, seq, ref from requests where user_id = $1 and key = $2`, user, o.Packet.Key).
		QueryRow(func(row pgx.Row) error {
			return noRowsOK(row.Scan(&hash, &from.request.room, &from.request.seq, &from.request.ref))
		})
	queueReadStanding(&b, o.Packet.Room, user, "", &standings)
	if err := w.sendBatch(&b); err != nil {
		return sender{}, err
	}
	if from.dup = hash != nil; from.dup {
		if !bytes.Equal(hash, o.Hash) {
			return sender{}, chat.ErrKeyReused
		}
		return from, nil
	}
	if len(standings) > 0 {
		from.standing = standings[0]
	} else if from.standing, err = readStanding(w, o.Packet.Room, user); err != nil {
		return sender{}, err
	}
	if !drawn {
		from.seed, err = w.firstSeed(user)
	}
	return from, err
}

// queueReadStanding makes the batch read the user's standing in the room, if the user is or was a member.
func queueReadStanding(b *pgx.Batch, room, user, lock string, standings *[]chat.Standing) {
	b.Queue(`select `+standingColumns+` from members where room_id = $1 and user_id = $2`+lock, room, user).
		Query(func(rs pgx.Rows) (err error) {
			*standings, err = collect(rs, scanStanding)
			return err
		})
}

// firstSeed draws the first seed of a user, creating the user if needed. If another transaction has just drawn it,
// firstSeed returns that one.
func (w *writer) firstSeed(user string) (seed redpacket.Seed, err error) {
	var b pgx.Batch
	queueSeeds(&b, []string{user})
	b.Queue(`select next_seed from users where id = $1 for update`, user).QueryRow(func(row pgx.Row) error {
		return row.Scan(storedSeed{&seed, new(bool)})
	})
	return seed, w.sendBatch(&b)
}
