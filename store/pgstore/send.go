package pgstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
)

// Send implements redpacket.Ledger.
func (s *Store) Send(ctx context.Context, o redpacket.Order) (sent redpacket.Sent, err error) {
	o.Packet.CreatedAt = fromMillis(o.Packet.CreatedAt.UnixMilli()) // as they will be read back
	o.Packet.ExpiresAt = fromMillis(o.Packet.ExpiresAt.UnixMilli())
	done, err := s.sends.take(ctx, o.Packet.From.ID)
	if err != nil {
		return redpacket.Sent{}, unavailable("send packet", err)
	}
	defer done()
	var stale *redpacket.CommitmentError
	err = s.tx(ctx, func(w *writer) error {
		stale = nil
		sent, err = w.send(o)
		crashpoint.Here("send.before-commit")
		if errors.As(err, &stale) {
			return nil // so far it has at most drawn a first seed: kept, for the refusal names it
		}
		return err
	})
	if err == nil && stale != nil {
		err = stale
	}
	if err != nil {
		return redpacket.Sent{}, outcome("send packet", err)
	}
	return sent, nil
}

func (w *writer) send(o redpacket.Order) (redpacket.Sent, error) {
	from, err := w.holdSender(o)
	if err != nil {
		return redpacket.Sent{}, err
	}
	if from.dup {
		sent, err := w.sentBefore(o.Packet.From.ID, from.request)
		sent.Dup = !w.again || sent.Packet.ID != o.Packet.ID // else an earlier run of this very call has sent it
		return sent, err
	}
	if err := from.standing.MaySend(o.Packet.CreatedAt); err != nil {
		return redpacket.Sent{}, err
	}
	if now := redpacket.Commitment(from.seed); o.Expect != "" && o.Expect != now {
		return redpacket.Sent{}, &redpacket.CommitmentError{Err: chat.ErrConflict, Next: now}
	}
	return w.book(o, from.seed)
}

// book takes the money, makes the next seed the user's, and writes the packet, its entry and its key.
func (w *writer) book(o redpacket.Order, seed redpacket.Seed) (sent redpacket.Sent, err error) {
	p, shares, body, err := o.Seal(seed)
	if err != nil {
		return redpacket.Sent{}, err
	}
	sent = redpacket.Sent{Packet: p, Account: redpacket.Account{NextCommitment: redpacket.Commitment(o.NextSeed)}}
	if sent.Account.Balance, err = w.takeTotal(p, o.NextSeed); err != nil {
		return redpacket.Sent{}, err
	}
	sent.Entry, err = w.appendEntry(chat.Entry{
		Room: p.Room, ID: o.EntryID, At: p.CreatedAt, From: p.From, Kind: chat.KindPacket, Key: p.Key, Body: body,
	})
	if err != nil {
		return redpacket.Sent{}, err
	}
	return sent, w.insertPacket(p, o.Hash, seed, shares, sent.Entry.Seq)
}

// takeTotal moves the packet's total out of the sender's wallet and gives what is left. His standing is judged once
// more: from here to the commit it holds.
func (w *writer) takeTotal(p redpacket.Packet, next redpacket.Seed) (balance redpacket.Money, err error) {
	var (
		b     pgx.Batch
		stood []chat.Standing
	)
	balance = -1
	b.Queue(`update users set next_seed = $2 where id = $1`, p.From.ID, next[:])
	queueDebit(&b, p.From.ID, p.Total).QueryRow(func(row pgx.Row) error { return ifAny(row.Scan(&balance)) })
	queueMovement(&b, movement{
		id: chat.NewID(p.CreatedAt), at: p.CreatedAt, debit: userParty(p.From.ID), credit: packetParty(p.ID),
		amount: p.Total, kind: redpacket.TransferSend, user: p.From.ID, packet: p.ID,
	})
	queueStanding(&b, p.Room, p.From.ID, " for update", &stood)
	switch err := w.batch(&b); {
	case err != nil:
		return 0, err
	case balance < 0:
		return 0, redpacket.ErrInsufficientBalance
	case len(stood) == 0:
		return 0, errAgain
	}
	return balance, stood[0].MaySend(p.CreatedAt)
}

// insertPacket stores a sealed packet, open, and notes for ever that its key stands for it.
func (w *writer) insertPacket(p redpacket.Packet, hash []byte, seed redpacket.Seed, shares []redpacket.Money, seq int64) error {
	_, err := w.exec(`insert into packets (id, partition, room_id, sender, sender_name, sender_avatar, mode, spread,
		total, count, greeting, recipients, passphrase, created_at, expires_at, commitment, key, shares, seed, seq, status)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, 'open')`,
		p.ID, p.Partition, p.Room, p.From.ID, p.From.Name, p.From.Avatar, p.Mode, p.Spread,
		p.Total, p.Count, p.Greeting, append([]string{}, p.To...), p.Passphrase, p.CreatedAt.UnixMilli(), p.ExpiresAt.UnixMilli(),
		p.Commitment, p.Key, shares, seed[:], seq)
	if err != nil {
		return err
	}
	return w.putRequest(p.From.ID, p.Key, hash, p.Room, seq, p.ID)
}

// sentBefore answers a repeated request: the packet and the entry of then, the account of now.
func (w *writer) sentBefore(from string, req request) (sent redpacket.Sent, err error) {
	if sent.Packet, err = readPacket(w, req.ref); err != nil {
		return redpacket.Sent{}, err
	}
	if sent.Entry, err = readEntry(w, req.room, req.seq); err != nil {
		return redpacket.Sent{}, err
	}
	sent.Account, err = w.account(from)
	return sent, err
}
