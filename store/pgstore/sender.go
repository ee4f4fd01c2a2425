package pgstore

import (
	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/tables"
)

// sender is what is stored about the sender of a packet, and decides whether the send is allowed. The sender's row in
// users is locked, so that the user's sends run one after another.
type sender struct {
	request  tables.Request
	dup      bool
	standing chat.Standing
	seed     redpacket.Seed
	open     int              // number of the sender's open packets; counted only if there is a limit
	used     redpacket.DayUse // of the packet's day; read only if there is a limit
}

// openOfSender counts the open packets of a sender. It relies on the index packets_open_sender.
const openOfSender = `select count(*) from packets where sender = $1 and done_seq is null`

// lockSender locks the sender's row in users and reads the earlier use of the key, the standing and the seed. If there are
// limits, it also reads the number of open packets and the sender's use of the day. While the row is locked, the number of open
// packets can only fall, and no other send adds to what was sent on the day. lockSender draws a seed if there is none.
//
// If the key was used before with the same content, it sets dup and returns neither standing nor seed. If it was used with
// other content, it returns chat.ErrKeyReused.
func (w *writer) lockSender(o redpacket.UnsealedPacket) (from sender, err error) {
	var (
		b         pgx.Batch
		user      = o.Packet.From.ID
		stored    []byte
		hash      []byte
		standings []chat.Standing
	)
	b.Queue(`select next_seed from users where id = $1 for update`, user).QueryRow(func(row pgx.Row) error {
		return noRowsOK(row.Scan(&stored))
	})
	b.Queue(`select hash, room_id, seq, ref from requests where user_id = $1 /*! and bucket = bucket_of($1) */ and key = $2`, user, o.Packet.Key).
		QueryRow(func(row pgx.Row) error {
			return noRowsOK(row.Scan(&hash, &from.request.Room, &from.request.Seq, &from.request.Ref))
		})
	queueReadStanding(&b, o.Packet.Room, user, "", &standings)
	if o.MaxOpen > 0 {
		b.Queue(openOfSender, user).QueryRow(func(row pgx.Row) error { return row.Scan(&from.open) })
	}
	if o.LimitsSends() {
		queueDayUse(&b, user, o.Day(), &from.used)
	}
	if err := w.sendBatch(&b); err != nil {
		return sender{}, err
	}
	if from.dup = hash != nil; from.dup {
		if !w.keys.SameRequest(hash, o.Hash) {
			return sender{}, chat.ErrKeyReused
		}
		return from, nil
	}
	if len(standings) > 0 {
		from.standing = standings[0]
	} else if from.standing, err = tables.ReadStanding(w, o.Packet.Room, user); err != nil {
		return sender{}, err
	}
	if stored == nil {
		from.seed, err = w.firstSeed(user)
	} else {
		from.seed, _, err = w.keys.NextSeed(user, stored)
	}
	return from, err
}

// queueReadStanding makes the batch read the user's standing in the room, if the user is or was a member.
func queueReadStanding(b *pgx.Batch, room, user, lock string, standings *[]chat.Standing) {
	b.Queue(`select `+tables.StandingColumns+` from members where room_id = $1 and user_id = $2`+lock, room, user).
		Query(func(rs pgx.Rows) (err error) {
			*standings, err = collect(rs, tables.ScanStanding)
			return err
		})
}

// firstSeed draws the first seed of a user, creating the user if needed. If another transaction has just drawn it,
// firstSeed returns that one.
func (w *writer) firstSeed(user string) (seed redpacket.Seed, err error) {
	var b pgx.Batch
	var stored []byte
	w.queueSeeds(&b, []string{user})
	b.Queue(`select next_seed from users where id = $1 for update`, user).QueryRow(func(row pgx.Row) error { return row.Scan(&stored) })
	if err := w.sendBatch(&b); err != nil {
		return seed, err
	}
	seed, _, err = w.keys.NextSeed(user, stored)
	return seed, err
}
