package pgstore

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// judgeClaims tells all there is to know of claims that may not have been paid now: how the packet stands, if it is
// there, which claim is the user's, whether the share is taken, and whether it was this very one that took it.
const judgeClaims = `
select coalesce(p.status, ''), m.share_no, m.amount, m.at, s.user_id is not null, coalesce(s.transfer = i.transfer, false)
from unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
	with ordinality i (packet_id, share_no, user_id, transfer, n)
left join packets p on p.id = i.packet_id
left join claims m on m.packet_id = i.packet_id and m.user_id = i.user_id
left join claims s on s.packet_id = i.packet_id and s.share_no = i.share_no
order by i.n`

// judged is one row of judgeClaims.
type judged struct {
	status     redpacket.Status
	mine       storedPaid
	taken, own bool
}

func scanJudged(rs pgx.Rows) (j judged, err error) {
	err = rs.Scan(&j.status, &j.mine.share, &j.mine.amount, &j.mine.at, &j.taken, &j.own)
	return j, err
}

// classify says what became of the rest. It is a statement of its own, because it has to see what others
// have committed while the claims were being inserted.
func (s *Store) classify(q querier, b *batch) error {
	if len(b.rest) == 0 {
		return nil
	}
	n := len(b.rest)
	packets, shares, users, transfers := make([]string, n), make([]int64, n), make([]string, n), make([]string, n)
	for i, o := range b.rest {
		packets[i], shares[i], users[i], transfers[i] = o.ID, int64(o.Share), o.User, o.transfer
	}
	all, err := rows(q, scanJudged, judgeClaims, packets, shares, users, transfers)
	if err != nil {
		return err
	}
	for i, o := range b.rest {
		o.paid = all[i].own
	}
	if err := b.complete(q); err != nil {
		return err
	}
	paid := b.paidTo()
	for i, o := range b.rest {
		if n, ok := paid[o.holder()]; ok && n > o.n {
			all[i].mine = storedPaid{} // when this one's turn was it was not there yet
		}
		if all[i].status == "" { // a failover has lost it
			s.cuts.drop(o.ID)
		}
		if o.answer, err = o.verdict(all[i], b.accounts); err != nil {
			return err
		}
	}
	return nil
}

// complete reads the accounts of those who were paid by an earlier run of the same transaction.
func (b *batch) complete(q querier) error {
	var users []string
	for _, o := range b.rest {
		if _, known := b.accounts[o.User]; o.paid && !known {
			users = append(users, o.User)
		}
	}
	if len(users) == 0 {
		return nil
	}
	rs, err := q.query(readAccounts, users)
	if err != nil {
		return err
	}
	return scanAccounts(rs, b.accounts)
}

// paidTo tells by which of the jobs a user has been paid.
func (b *batch) paidTo() map[place]int {
	paid := map[place]int{}
	for _, o := range slices.Concat(b.pay, b.rest) {
		if o.paid {
			paid[o.holder()] = o.n
		}
	}
	return paid
}

// verdict: the user's own claim comes first, for it answers for ever.
func (o *order) verdict(j judged, accounts map[string]redpacket.Account) (redpacket.Settlement, error) {
	switch mine := j.mine.paid(); {
	case o.paid: // now, or by an earlier run of the same transaction
		return paidNow(o.Claim, o.amount, accounts[o.User]), nil
	case mine != nil:
		return redpacket.Settlement{Verdict: redpacket.Duplicate, Share: mine.Share, Amount: mine.Amount, At: mine.At}, nil
	case j.status == "":
		return unpayable("no such packet"), nil
	case o.amount == 0:
		return unpayable("no such share"), nil
	case j.taken:
		return redpacket.Settlement{Verdict: redpacket.Conflict}, nil
	case j.status == redpacket.Open: // and yet not paid: whatever was in the way has gone
		return redpacket.Settlement{}, errAgain
	}
	return redpacket.Settlement{Verdict: redpacket.TooLate, Status: j.status}, nil
}
