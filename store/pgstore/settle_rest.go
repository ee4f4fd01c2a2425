package pgstore

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// claimFactsQuery reads, for each claim, the facts that decide its answer: the packet's status, the user's claim in
// that packet, whether the share is taken, and whether this very claim took it.
const claimFactsQuery = `
select coalesce(p.status, ''), m.share_no, m.amount, m.at, s.user_id is not null, coalesce(s.transfer = i.transfer, false)
from unnest($1::text[], $2::bigint[], $3::text[], $4::text[])
	with ordinality i (packet_id, share_no, user_id, transfer, n)
left join packets p on p.id = i.packet_id
left join claims m on m.packet_id = i.packet_id and m.user_id = i.user_id
left join claims s on s.packet_id = i.packet_id and s.share_no = i.share_no
order by i.n`

// claimFacts is one row of claimFactsQuery.
type claimFacts struct {
	status     redpacket.Status
	mine       storedPaid
	taken, own bool
}

func scanClaimFacts(rs pgx.Rows) (f claimFacts, err error) {
	err = rs.Scan(&f.status, &f.mine.share, &f.mine.amount, &f.mine.at, &f.taken, &f.own)
	return f, err
}

// classify answers the rest of the batch. Its query is a separate statement, so that it sees the claims that other
// transactions committed during the insert.
func (s *Store) classify(q querier, b *claimBatch) error {
	if len(b.rest) == 0 {
		return nil
	}
	n := len(b.rest)
	packets, shares, users, transfers := make([]string, n), make([]int64, n), make([]string, n), make([]string, n)
	for i, r := range b.rest {
		packets[i], shares[i], users[i], transfers[i] = r.ID, int64(r.Share), r.User, r.transfer
	}
	all, err := rows(q, scanClaimFacts, claimFactsQuery, packets, shares, users, transfers)
	if err != nil {
		return err
	}
	for i, r := range b.rest {
		r.paid = all[i].own
	}
	if err := b.readPaidAccounts(q); err != nil {
		return err
	}
	paid := b.paidJobs()
	for i, r := range b.rest {
		if n, ok := paid[r.perUser()]; ok && n > r.n {
			all[i].mine = storedPaid{} // the claim that SQL has of this user was paid by a later job of the batch
		}
		if all[i].status == "" { // lost in a failover
			s.cuts.drop(r.ID)
		}
		if r.answer, err = r.verdict(all[i], b.accounts); err != nil {
			return err
		}
	}
	return nil
}

// readPaidAccounts reads the accounts of users that an earlier run of the same transaction has paid.
func (b *claimBatch) readPaidAccounts(q querier) error {
	var users []string
	for _, r := range b.rest {
		if _, known := b.accounts[r.User]; r.paid && !known {
			users = append(users, r.User)
		}
	}
	return readAccountsInto(q, b.accounts, users)
}

// paidJobs returns, for each user of a packet, the index of the job that paid the user.
func (b *claimBatch) paidJobs() map[claimKey]int {
	paid := map[claimKey]int{}
	for _, r := range slices.Concat(b.pay, b.rest) {
		if r.paid {
			paid[r.perUser()] = r.n
		}
	}
	return paid
}

// verdict returns the settlement of a claim. Whether the user already has a claim decides first, because that never
// changes.
func (r *claimRow) verdict(f claimFacts, accounts map[string]redpacket.Account) (redpacket.Settlement, error) {
	switch mine := f.mine.paid(); {
	case r.paid: // paid by this run or by an earlier run of the same transaction
		return paidNow(r.Claim, r.amount, accounts[r.User]), nil
	case mine != nil:
		return redpacket.Settlement{Verdict: redpacket.Duplicate, Share: mine.Share, Amount: mine.Amount, At: mine.At}, nil
	case f.status == "":
		return unpayable("no such packet"), nil
	case r.amount == 0:
		return unpayable("no such share"), nil
	case f.taken:
		return redpacket.Settlement{Verdict: redpacket.Conflict}, nil
	case f.status == redpacket.Open: // the packet is open, but the claim was not paid: whatever prevented it is gone
		return redpacket.Settlement{}, errRetry
	}
	return redpacket.Settlement{Verdict: redpacket.TooLate, Status: f.status}, nil
}
