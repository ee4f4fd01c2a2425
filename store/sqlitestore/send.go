package sqlitestore

import (
	"context"
	"errors"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/tables"
)

// Send implements redpacket.Ledger.
func (s *Store) Send(ctx context.Context, o redpacket.UnsealedPacket) (sent redpacket.Sent, err error) {
	var stale *redpacket.CommitmentError
	err = s.do(ctx, func(w *writer) error {
		sent, err = w.send(o)
		crashpoint.Here("send.before-commit")
		if errors.As(err, &stale) {
			return nil // the job has at most drawn the next seed, which is kept, because the refusal contains its commitment
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
	from := o.Packet.From.ID
	req, dup, err := tables.LookupRequest(w, from, o.Packet.Key, o.Hash)
	if err != nil {
		return redpacket.Sent{}, err
	}
	if dup {
		return tables.SentBefore(w, req, w.account)
	}
	standing, err := tables.ReadStanding(w, o.Packet.Room, from)
	if err != nil {
		return redpacket.Sent{}, err
	}
	if err := standing.MaySend(o.Packet.CreatedAt); err != nil {
		return redpacket.Sent{}, err
	}
	if err := w.limitOpenPackets(o); err != nil {
		return redpacket.Sent{}, err
	}
	if err := w.limitDay(o); err != nil {
		return redpacket.Sent{}, err
	}
	seed, err := w.seed(from)
	if err != nil {
		return redpacket.Sent{}, err
	}
	if now := redpacket.Commitment(seed); o.Expect != "" && o.Expect != now {
		return redpacket.Sent{}, &redpacket.CommitmentError{Err: chat.ErrConflict, Next: now}
	}
	if o.Funded != nil {
		if err := w.takeFunding(o); err != nil {
			return redpacket.Sent{}, err
		}
	}
	if err := w.debit(from, o.Packet.Total); err != nil {
		return redpacket.Sent{}, err
	}
	return w.book(o, seed)
}

// openOfSender counts the open packets of a sender. It relies on the index packets_open_sender.
const openOfSender = `select count(*) from packets where sender = ? and done_seq is null`

// limitOpenPackets fails if the sender has as many open packets as allowed.
func (w *writer) limitOpenPackets(o redpacket.UnsealedPacket) error {
	if o.MaxOpen == 0 {
		return nil
	}
	var open int
	_, err := w.Row(openOfSender, []any{o.Packet.From.ID}, &open)
	if err == nil && open >= o.MaxOpen {
		err = o.TooManyOpen()
	}
	return err
}

// book stores a packet whose money is already taken from the wallet: the entry, the packet, the transfer, the idempotency key,
// and the sender's next seed.
func (w *writer) book(o redpacket.UnsealedPacket, seed redpacket.Seed) (sent redpacket.Sent, err error) {
	o.Packet.CreatedAt = o.Packet.CreatedAt.Truncate(time.Millisecond).UTC() // as they will be read back
	o.Packet.ExpiresAt = o.Packet.ExpiresAt.Truncate(time.Millisecond).UTC()
	p, shares, body, err := o.Seal(seed)
	if err != nil {
		return redpacket.Sent{}, err
	}
	if p.Passphrase != "" {
		o.Hash = w.keys.RequestHash(o.Hash)
	}
	if err := w.setSeed(p.From.ID, o.NextSeed); err != nil {
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
	if err := tables.InsertPacket(w, p, o.Hash, seed, shares); err != nil {
		return redpacket.Sent{}, err
	}
	if err := w.record(tables.SendTransfer(chat.NewID(p.CreatedAt), p)); err != nil {
		return redpacket.Sent{}, err
	}
	if sent.Account, err = w.account(p.From.ID); err == nil && !p.IsDraw() {
		w.cache.Put(p.ID, tables.Payout{Shares: shares, OnePerPerson: p.OnePerPerson}) // the job cannot fail after this, and if the commit fails, reset clears the cache
	}
	return sent, err
}

// limitDay fails if the packet goes over what its sender may send a day.
func (w *writer) limitDay(o redpacket.UnsealedPacket) error {
	self, _, err := tables.ReadSelfLimits(w, o.Packet.From.ID, "")
	if err != nil || !o.LimitsSends(self) {
		return err
	}
	used, err := tables.ReadDayUse(w, o.Packet.From.ID, o.Day())
	if err != nil {
		return err
	}
	return o.CheckDay(used)
}

// hostKeyUsed reports whether the user has another funding with the host's key.
func (w *writer) hostKeyUsed(f redpacket.Funded) (used bool, err error) {
	_, err = w.Row(`select exists (select 1 from fundings where bucket = ? and user_id = ? and host_key = ? and id <> ?)`,
		[]any{chat.UserBucket(f.User), f.User, f.HostKey, f.ID}, &used)
	return used, err
}

// takeFunding sets the state of the packet's funding to sent, and credits its amount to the sender.
func (w *writer) takeFunding(o redpacket.UnsealedPacket) error {
	f := o.Funded
	switch used, err := w.hostKeyUsed(*f); {
	case err != nil:
		return err
	case used:
		return chat.ErrConflict
	}
	n, err := w.Exec(`update fundings set state = 'sent', settled_at = ?, amount = ?, host_key = ?, packet_id = ?
		where bucket = ? and user_id = ? and id = ? and state = 'asked'`,
		o.Packet.CreatedAt.UnixMilli(), f.Amount, f.HostKey, o.Packet.ID, chat.UserBucket(f.User), f.User, f.ID)
	if err != nil {
		return err
	}
	if n == 0 {
		return f.Void()
	}
	credit := o.FundingCredit()
	dup, err := w.Row(`select 1 from transfers where key = ?`, []any{credit.Key}, new(int))
	switch {
	case err != nil:
		return err
	case dup: // an earlier adjustment has used the key
		return chat.ErrConflict
	}
	details, err := f.Details()
	if err != nil {
		return err
	}
	return w.applyAdjustment(credit, details)
}
