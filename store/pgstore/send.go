package pgstore

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// Send implements redpacket.Ledger.
func (s *Store) Send(ctx context.Context, o redpacket.UnsealedPacket) (sent redpacket.Sent, err error) {
	o.Packet.CreatedAt = o.Packet.CreatedAt.Truncate(time.Millisecond).UTC() // as they will be read back
	o.Packet.ExpiresAt = o.Packet.ExpiresAt.Truncate(time.Millisecond).UTC()
	ctx = arrived(ctx)
	done, err := s.sendLocks.lock(ctx, o.Packet.From.ID)
	if err != nil {
		return redpacket.Sent{}, tables.Unavailable("send packet", err)
	}
	defer done()
	var stale *redpacket.CommitmentError
	err = s.tx(ctx, func(w *writer) error {
		stale = nil
		sent, err = w.send(o)
		crashpoint.Here("send.before-commit")
		if errors.As(err, &stale) {
			return nil // the transaction has at most drawn a first seed, which is kept: the refusal names its commitment
		}
		return err
	})
	if err == nil && stale != nil {
		err = stale
	}
	if err != nil {
		return redpacket.Sent{}, tables.Outcome("send packet", err)
	}
	return sent, nil
}

func (w *writer) send(o redpacket.UnsealedPacket) (redpacket.Sent, error) {
	from, err := w.lockSender(o)
	if err != nil {
		return redpacket.Sent{}, err
	}
	if from.dup {
		sent, err := tables.SentBefore(w, from.request, w.account)
		sent.Dup = !w.maybeCommitted || sent.Packet.ID != o.Packet.ID // not a dup if an earlier run of this call has sent the packet
		return sent, err
	}
	if err := from.standing.MaySend(o.Packet.CreatedAt); err != nil {
		return redpacket.Sent{}, err
	}
	if o.MaxOpen > 0 && from.open >= o.MaxOpen {
		return redpacket.Sent{}, o.TooManyOpen()
	}
	if err := o.CheckDay(from.used); err != nil {
		return redpacket.Sent{}, err
	}
	if now := redpacket.Commitment(from.seed); o.Expect != "" && o.Expect != now {
		return redpacket.Sent{}, &redpacket.CommitmentError{Err: chat.ErrConflict, Next: now}
	}
	if o.Funded == nil {
		return w.bookPacket(o, from.seed)
	}
	if err := w.takeFunding(o); err != nil {
		return redpacket.Sent{}, err
	}
	sent, err := w.bookPacket(o, from.seed)
	if err != nil {
		return redpacket.Sent{}, err
	}
	return sent, w.circulate(o.Funded.Amount)
}

// bookPacket takes the total from the sender's wallet and stores the sender's next seed. It also stores the packet,
// its entry and its key.
func (w *writer) bookPacket(o redpacket.UnsealedPacket, seed redpacket.Seed) (sent redpacket.Sent, err error) {
	p, shares, body, err := o.Seal(seed)
	if err != nil {
		return redpacket.Sent{}, err
	}
	if p.Passphrase != "" {
		o.Hash = w.DataKeys.RequestHash(o.Hash)
	}
	if sent.Account, err = w.debitTotal(p, o.NextSeed); err != nil {
		return redpacket.Sent{}, err
	}
	sent.Entry, err = tables.AppendEntry(w, chat.Entry{
		Room: p.Room, ID: o.EntryID, At: p.CreatedAt, From: p.From, Kind: chat.KindPacket, Key: p.Key, Body: body,
	}, o.Hash)
	if err != nil {
		return redpacket.Sent{}, err
	}
	p.Seq = sent.Entry.Seq
	sent.Packet, sent.Opens = p, p.Opens(seed)
	return sent, tables.InsertPacket(w, p, o.Hash, seed, shares)
}

// debitTotal moves the packet's total out of the sender's wallet, stores the sender's next seed, and returns the account after
// that. It checks the sender's standing again under a lock, so that the standing cannot change before the commit.
func (w *writer) debitTotal(p redpacket.Packet, next redpacket.Seed) (acc redpacket.Account, err error) {
	var (
		b         pgx.Batch
		standings []chat.Standing
	)
	acc = redpacket.Account{Balance: -1, NextCommitment: redpacket.Commitment(next)}
	b.Queue(`update users set next_seed = $2, sends = sends + 1 where id = $1`, p.From.ID, w.DataKeys.EncryptNextSeed(p.From.ID, next))
	queueDebit(&b, p.From.ID, p.Total, 1).QueryRow(func(row pgx.Row) error { return noRowsOK(row.Scan(&acc.Balance, &acc.Version)) })
	w.queueTransfer(&b, tables.SendTransfer(chat.NewID(p.CreatedAt), p))
	queueReadStanding(&b, p.Room, p.From.ID, " for update", &standings)
	switch err := w.SendBatch(&b); {
	case err != nil:
		return redpacket.Account{}, err
	case acc.Balance < 0:
		return redpacket.Account{}, tables.DebitRefusal(w, p.From.ID)
	case len(standings) == 0:
		return redpacket.Account{}, tables.ErrRetry
	}
	return acc, standings[0].MaySend(p.CreatedAt)
}

// sender is what is stored about the sender of a packet, and decides whether the send is allowed. The sender's row in
// users is locked, so that the user's sends run one after another.
type sender struct {
	request  tables.Request
	dup      bool
	standing chat.Standing
	seed     redpacket.Seed
	open     int              // number of the sender's open packets; counted only if there is a limit
	used     redpacket.DayUse // of the packet's day; its sums are read only if there is a limit
}

// openOfSender counts the open packets of a sender. It relies on the index packets_open_sender.
const openOfSender = `select count(*) from packets where sender = $1 and done_seq is null`

// lockSender locks the sender's row in users and reads the earlier use of the key, the standing and the seed. If there are
// limits, it also reads the number of open packets and the sender's use of the day. While the row is locked, the number of open
// packets can only fall, and no other send adds to what was sent on the day. lockSender draws a seed if there is none.
//
// The coordinator of Citus frees the row before the workers have committed. So the wallet is locked next, before the reads and before
// fundings: it is on the worker that has the requests and the transfers of the user. Then an earlier use of the key is found, and
// earlier sends count for the day. Only a first send, before which there is no wallet, is not waited for. A packet of another worker
// may be missing among the open ones, for the moment between two workers' commits.
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
		self      redpacket.SelfLimits
	)
	b.Queue(`select next_seed, `+tables.SelfLimitsColumns+` from users where id = $1 for update`, user).QueryRow(func(row pgx.Row) error {
		return noRowsOK(row.Scan(append([]any{&stored}, tables.SelfLimitsInto(&self)...)...))
	})
	if w.Citus {
		b.Queue(`select from wallets where user_id = $1 and bucket = bucket_of($1) for update`, user)
	}
	b.Queue(`select hash, room_id, seq, ref from requests where user_id = $1 /*! and bucket = bucket_of($1) */ and key = $2`, user, o.Packet.Key).
		QueryRow(func(row pgx.Row) error {
			return noRowsOK(row.Scan(&hash, &from.request.Room, &from.request.Seq, &from.request.Ref))
		})
	queueReadStanding(&b, o.Packet.Room, user, "", &standings)
	if o.MaxOpen > 0 {
		b.Queue(openOfSender, user).QueryRow(func(row pgx.Row) error { return row.Scan(&from.open) })
	}
	if o.LimitsSends(redpacket.SelfLimits{}) {
		queueDayUse(&b, user, o.Day(), &from.used)
	}
	if err := w.SendBatch(&b); err != nil {
		return sender{}, err
	}
	if from.dup = hash != nil; from.dup {
		if !w.DataKeys.SameRequest(hash, o.Hash) {
			return sender{}, chat.ErrKeyReused
		}
		return from, nil
	}
	if len(standings) > 0 {
		from.standing = standings[0]
	} else if from.standing, err = tables.ReadStanding(w, o.Packet.Room, user); err != nil {
		return sender{}, err
	}
	if self.Sent.Most != nil && !o.LimitsSends(redpacket.SelfLimits{}) { // few users have set a limit
		if from.used, err = tables.ReadDayUse(w, user, o.Day()); err != nil {
			return sender{}, err
		}
	}
	from.used.Self = self
	if stored == nil {
		from.seed, err = w.firstSeed(user)
	} else {
		from.seed, _, err = w.DataKeys.NextSeed(user, stored)
	}
	return from, err
}

// queueReadStanding makes the batch read the user's standing in the room, if the user is or was a member.
func queueReadStanding(b *pgx.Batch, room, user, lock string, standings *[]chat.Standing) {
	b.Queue(`select `+tables.StandingColumns+` from members m where m.room_id = $1 and m.user_id = $2`+lock, room, user).
		Query(func(rs pgx.Rows) (err error) {
			*standings, err = pg.Collect(rs, tables.ScanStanding)
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
	if err := w.SendBatch(&b); err != nil {
		return seed, err
	}
	seed, _, err = w.DataKeys.NextSeed(user, stored)
	return seed, err
}

// queueDayUse makes the batch read what the user has sent and received in packets on the day, and the user's own limits.
func queueDayUse(b *pgx.Batch, user string, day redpacket.Day, used *redpacket.DayUse) {
	b.Queue(tables.DayUseQuery, user, day.From.UnixMilli(), day.To.UnixMilli()).QueryRow(func(row pgx.Row) error { return row.Scan(tables.DayUseInto(used)...) })
}

// noRowsOK returns nil for pgx.ErrNoRows. As the result of a callback, that error would make the driver discard what
// it has cached about all statements of the batch.
func noRowsOK(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}
