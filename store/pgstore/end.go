package pgstore

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/crashpoint"
	"hongbao/store/chain"
	"hongbao/store/pgstore/internal/batch"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/tables"
)

// endsOfRoom is about how many packets of one room a store ends at the same time. Each end locks the room for a part of its transaction.
const endsOfRoom = 4

// End implements redpacket.Ledger. It returns chat.ErrNotFound if there is no such packet. About endsOfRoom packets of one room are ended
// at the same time. Otherwise the ends of many packets of a room would take all connections of single transactions, and most would
// only wait for the room until their patience ends.
func (s *Store) End(ctx context.Context, c redpacket.Close) (closed redpacket.Closed, err error) {
	ctx = arrived(ctx)
	room, err := s.roomOfPacket(ctx, c.ID)
	if err != nil {
		return redpacket.Closed{}, err
	}
	done, err := s.endLocks.lock(ctx, fmt.Sprintf("%s %d", room, crc32.ChecksumIEEE([]byte(c.ID))%endsOfRoom))
	if err != nil {
		return redpacket.Closed{}, tables.Unavailable("end packet", &batch.BusyError{Err: err})
	}
	defer done()
	e := newEndCall(c)
	run := func(w *writer) error {
		closed, err = w.end(e)
		crashpoint.Here("close.before-commit")
		return err
	}
	err = s.tx(ctx, run)
	if err != nil && poisonous(err) && len(e.missing) > 0 { // one of the missing grants may have caused the error
		if err = s.settleSeparately(ctx, e); err == nil {
			err = s.tx(ctx, run)
		}
	}
	if err != nil {
		if errors.Is(err, errBlocked) || errors.Is(err, pg.ErrPatience) {
			err = &batch.BusyError{Err: err}
		}
		return redpacket.Closed{}, tables.Outcome("end packet", err)
	}
	crashpoint.Here("close.after-commit")
	return closed, nil
}

// roomOfPacket returns the room of a packet, or chat.ErrNotFound.
func (s *Store) roomOfPacket(ctx context.Context, packet string) (room string, err error) {
	err = s.withReader(ctx, func(r reader) error {
		found, err := r.Row(`select room_id from packets where id = $1 /*! and bucket = bucket_of($1) */`, []any{packet}, &room)
		if err == nil && !found {
			err = chat.ErrNotFound
		}
		return err
	})
	return room, tables.Outcome("read the room of a packet", err)
}

// end ends an open packet. If the packet is closed already, it returns its book, with Done only if an earlier run of this call has
// closed it.
func (w *writer) end(e *endCall) (redpacket.Closed, error) {
	b, err := w.lockBook(e.ID)
	if err != nil {
		return redpacket.Closed{}, err
	}
	if b.Status != redpacket.Open {
		if w.maybeCommitted {
			return w.endedBefore(e, b)
		}
		return redpacket.Closed{Book: b}, nil
	}
	closed := redpacket.Closed{Done: true}
	e.findMissing(b)
	if b.Refunded, err = e.refundAmount(b); err != nil {
		return redpacket.Closed{}, err
	}
	if closed.Accounts, err = w.payOut(e, &b); err != nil {
		return redpacket.Closed{}, err
	}
	b.Status = endStatus(e.Reason, b)
	closed.Book, closed.Inserted = b, e.inserted(b.Claims)
	var last tables.Batch // one round trip: the room is locked
	if closed.Entry, err = w.queueDone(&last, b, e.Close); err != nil {
		return redpacket.Closed{}, err
	}
	queueClosed(&last, b, e.Close, closed.Entry.Seq)
	return closed, w.Send(&last)
}

// lockBook locks the packet and then reads it with its claims. It waits until all transactions that settle claims of
// the packet have ended.
func (w *writer) lockBook(packet string) (b redpacket.Book, err error) {
	var batch tables.Batch
	batch.Exec(`select from packets where id = $1 /*! and bucket = bucket_of($1) */ for update`, packet)
	tables.QueueBook(w, &batch, packet, &b)
	if err := w.Send(&batch); err != nil {
		return redpacket.Book{}, err
	}
	if b.Packet.ID == "" {
		return redpacket.Book{}, chat.ErrNotFound
	}
	return b, nil
}

// endStatus returns the final status. If all shares are claimed it is Drained, whatever reason the caller gave.
func endStatus(reason redpacket.Status, b redpacket.Book) redpacket.Status {
	switch {
	case len(b.Claims) == b.Packet.Count:
		return redpacket.Drained
	case reason == redpacket.Cancelled:
		return redpacket.Cancelled
	}
	return redpacket.Expired
}

func (w *writer) queueDone(batch *tables.Batch, b redpacket.Book, c redpacket.Close) (chat.Entry, error) {
	body, err := redpacket.DoneBody(b)
	if err != nil {
		return chat.Entry{}, err
	}
	return tables.QueueEntry(w, batch, chat.Entry{
		Room: b.Packet.Room, ID: c.EntryID, At: c.At, From: b.Packet.From, Kind: chat.KindPacketDone, Body: body,
	}, nil)
}

func queueClosed(batch *tables.Batch, b redpacket.Book, c redpacket.Close, doneSeq int64) {
	if best := redpacket.Luckiest(b.Packet, b.Claims); best != nil {
		batch.Exec(`update claims set luckiest = true where packet_id = $1 /*! and bucket = bucket_of($1) */ and share_no = $2`, c.ID, best.Share)
	}
	batch.Exec(`update packets set status = $2, closed_at = $3, refunded = $4, claimed = $5, done_seq = $6,
		seed = $7, shares = case when encrypted_seed = '' then shares else $8 end where id = $1 /*! and bucket = bucket_of($1) */`,
		c.ID, b.Status, c.At.UnixMilli(), b.Refunded, len(b.Claims), doneSeq, b.Seed[:], b.Shares)
}

// endedBefore returns the result of an earlier run of this call, if that run has ended the packet. Otherwise it returns
// only the book.
func (w *writer) endedBefore(e *endCall, b redpacket.Book) (redpacket.Closed, error) {
	var seq int64
	if found, err := w.Row(`select done_seq from packets where id = $1 /*! and bucket = bucket_of($1) */`, []any{e.ID}, &seq); err != nil || !found {
		return redpacket.Closed{}, err
	}
	done, err := tables.ReadEntry(w, b.Packet.Room, seq)
	if err != nil {
		return redpacket.Closed{}, err
	}
	if done.ID != e.EntryID {
		return redpacket.Closed{Book: b}, nil
	}
	if e.missing, err = tables.List(w, scanGrant, `select user_id, share_no from claims where packet_id = $1 /*! and bucket = bucket_of($1) */ and transfer = any($2)`, e.ID, e.ids()); err != nil {
		return redpacket.Closed{}, err
	}
	closed := redpacket.Closed{Done: true, Book: b, Entry: done, Inserted: e.inserted(b.Claims)}
	closed.Accounts, err = w.accounts(e.paidUsers(b))
	if err != nil {
		return redpacket.Closed{}, fmt.Errorf("read accounts: %w", err)
	}
	return closed, nil
}

// endCall is one call of End. It lasts over all runs of the transaction.
type endCall struct {
	redpacket.Close

	transferIDs map[redpacket.Grant]string // ids of transfers, drawn once: by them a later run recognises the work of an earlier one
	refundID    string                     // id of the refund's transfer
	refused     map[redpacket.Grant]bool   // grants that Postgres refuses
	paidBefore  map[redpacket.Grant]bool   // grants that this call has paid in settleSeparately, before the transaction that ends the packet
	missing     []redpacket.Grant          // grants without a claim in SQL, as the last run saw them; paid together with the end
}

func newEndCall(c redpacket.Close) *endCall {
	return &endCall{
		Close: c, transferIDs: map[redpacket.Grant]string{}, refundID: chat.NewID(c.At),
		refused: map[redpacket.Grant]bool{}, paidBefore: map[redpacket.Grant]bool{},
	}
}

// findMissing finds the caller's grants without a claim in SQL whose user and share have no other claim either. It
// leaves out grants that Postgres has refused, and those of shares that do not exist.
func (e *endCall) findMissing(b redpacket.Book) {
	users, shares := map[string]bool{}, make([]bool, len(b.Shares))
	for _, p := range b.Claims {
		users[p.User.ID], shares[p.Share] = true, true
	}
	e.missing = nil
	for _, g := range e.Grants {
		if g.Share < 0 || g.Share >= len(shares) || shares[g.Share] || users[g.User] || e.refused[g] {
			continue
		}
		users[g.User], shares[g.Share] = true, true
		e.missing = append(e.missing, g)
		if e.transferIDs[g] == "" {
			e.transferIDs[g] = chat.NewID(e.At)
		}
	}
}

// refundAmount returns what no claim or missing grant takes. It goes back to the sender.
func (e *endCall) refundAmount(b redpacket.Book) (redpacket.Money, error) {
	left := b.Packet.Total
	for _, p := range b.Claims {
		left -= p.Amount
	}
	for _, g := range e.missing {
		left -= b.Shares[g.Share]
	}
	if left < 0 { // impossible unless the database was tampered with: fail, so that no wrong amount is paid
		return 0, fmt.Errorf("packet %s has paid %d more than its total", e.ID, -left)
	}
	return left, nil
}

// inserted returns those of the claims that this call has added.
func (e *endCall) inserted(claims []redpacket.Paid) (found []redpacket.Paid) {
	added := maps.Clone(e.paidBefore)
	for _, g := range e.missing {
		added[g] = true
	}
	for _, p := range claims {
		if added[redpacket.Grant{User: p.User.ID, Share: p.Share}] {
			found = append(found, p)
		}
	}
	return found
}

// paidUsers returns the users that this call pays, sorted and unique. They include the sender if there is a refund.
func (e *endCall) paidUsers(b redpacket.Book) []string {
	users := map[string]bool{}
	for _, g := range e.missing {
		users[g.User] = true
	}
	for g := range e.paidBefore {
		users[g.User] = true
	}
	if b.Refunded > 0 {
		users[b.Packet.From.ID] = true
	}
	return slices.Sorted(maps.Keys(users))
}

func (e *endCall) ids() []string { return slices.Collect(maps.Values(e.transferIDs)) }

// settleSeparately settles each missing grant as a claim of its own, to find those that Postgres refuses. The money of
// a refused grant becomes part of the refund. settleSeparately returns an error if it stays unknown whether a grant is
// refused. Other grants may then be paid already.
func (s *Store) settleSeparately(ctx context.Context, e *endCall) error {
	claims := make([]redpacket.Claim, len(e.missing))
	for i, g := range e.missing {
		claims[i] = redpacket.Claim{Ref: e.Ref, Share: g.Share, User: g.User, At: e.At}
	}
	settled := s.Settle(ctx, claims)
	for i, v := range settled {
		switch v.Verdict {
		case redpacket.PaidNow:
			e.paidBefore[e.missing[i]] = true
		case redpacket.Unpayable:
			e.refused[e.missing[i]] = true
			s.log.Error("grant refused by Postgres", "packet", e.ID, "share", e.missing[i].Share, "why", v.Why)
		}
	}
	return redpacket.UnsettledErr(settled)
}

// payOut pays the missing grants and the refund, and returns the accounts after that. The packet's row must be
// locked, so that no other claim is added. If there are missing grants, it reads the packet's claims again.
func (w *writer) payOut(e *endCall, b *redpacket.Book) (accounts map[string]redpacket.Account, err error) {
	users := e.paidUsers(*b)
	if len(users) == 0 {
		return map[string]redpacket.Account{}, nil
	}
	var batch pgx.Batch
	w.queueSeeds(&batch, users)
	if err := e.queueMissing(w, &batch, b.Shares); err != nil {
		return nil, err
	}
	e.queueCredits(&batch, *b)
	if b.Refunded > 0 {
		w.queueTransfer(&batch, tables.RefundTransfer(e.refundID, e.ID, b.Packet.From.ID, b.Refunded, e.At))
	}
	if len(e.missing) > 0 {
		batch.Queue(tables.ClaimsQuery, e.ID).Query(func(rs pgx.Rows) (err error) {
			b.Claims, err = pg.Collect(rs, tables.ScanPaid)
			return err
		})
	}
	w.queueAccounts(&batch, users, &accounts)
	return accounts, w.SendBatch(&batch)
}

// queueCredits makes the batch add each user's money to the wallet with one write. Wallets are locked in order of
// users.
func (e *endCall) queueCredits(batch *pgx.Batch, b redpacket.Book) {
	sums := map[string]redpacket.Money{}
	for _, g := range e.missing {
		sums[g.User] += b.Shares[g.Share]
	}
	if b.Refunded > 0 {
		sums[b.Packet.From.ID] += b.Refunded
	}
	users := slices.Sorted(maps.Keys(sums))
	amounts := make([]redpacket.Money, len(users))
	for i, user := range users {
		amounts[i] = sums[user]
	}
	if len(users) > 0 {
		queueCredit(batch, users, amounts)
	}
}

// queueMissing makes the batch insert the claims and the transfers of the missing grants.
func (e *endCall) queueMissing(w *writer, batch *pgx.Batch, cut []redpacket.Money) error {
	n := len(e.missing)
	if n == 0 {
		return nil
	}
	shares, users, amounts, transfers := make([]int32, n), make([]string, n), make([]redpacket.Money, n), make([]string, n)
	leaves := make([]chain.Hash, n)
	for i, g := range e.missing {
		shares[i], users[i], amounts[i], transfers[i] = int32(g.Share), g.User, cut[g.Share], e.transferIDs[g]
		w.refs.Claim(e.ID, g.Share)
		leaves[i] = chain.ClaimLeaf(redpacket.Claim{Ref: e.Ref, Share: g.Share, User: g.User, At: e.At}, amounts[i], transfers[i])
	}
	link, err := w.Chained(leaves...)
	if err != nil {
		return err
	}
	batch.Queue(`insert into claims (/*! bucket, */ packet_id, share_no, user_id, amount, at, transfer, link)
		select /*! bucket_of($1), */ $1, i.share_no, i.user_id, i.amount, $2, i.id, $7
		from unnest($3::int[], $4::text[], $5::bigint[], $6::text[]) i (share_no, user_id, amount, id)`,
		e.ID, e.At.UnixMilli(), shares, users, amounts, transfers, link)
	batch.Queue(`insert into transfers (/*! bucket, */ id, at, debit, credit, amount, kind, user_id, packet_id, share_no)
		select /*! bucket_of(i.user_id), */ i.id, $2::bigint, 'packet:' || $1::text, 'user:' || i.user_id, i.amount, 'claim', i.user_id, $1::text, i.share_no
		from unnest($3::int[], $4::text[], $5::bigint[], $6::text[]) i (share_no, user_id, amount, id)`,
		e.ID, e.At.UnixMilli(), shares, users, amounts, transfers)
	return nil
}

func scanGrant(rs tables.Row) (g redpacket.Grant, err error) {
	err = rs.Scan(&g.User, &g.Share)
	return g, err
}
