package pgstore

import (
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
	"hongbao/store/chain"
	"hongbao/store/tables"
)

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
			b.Claims, err = collect(rs, tables.ScanPaid)
			return err
		})
	}
	w.queueAccounts(&batch, users, &accounts)
	return accounts, w.sendBatch(&batch)
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
	link, err := w.chained(leaves...)
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
