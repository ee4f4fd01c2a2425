package pgstore

import (
	"cmp"
	"slices"

	"hongbao/redpacket"
)

// claimBatch is the claims of one transaction.
type claimBatch struct {
	packets []string    // ids of the claims' packets, sorted
	users   []string    // users that the transaction may pay, unique and sorted
	pay     []*claimRow // claims that may be paid, in the order of insertion
	rest    []*claimRow // claims that cannot be paid now; classify answers them
	allNew  bool        // all claims of pay were just granted, and no two are for the same user or share
	begun   bool        // the transaction has begun and has locked the rows of the claims

	paid     int64                        // number of claims of pay that were paid
	accounts map[string]redpacket.Account // accounts of the paid users after the transaction
}

// claimRow is a claim about to be inserted.
type claimRow struct {
	*settleJob

	n      int             // index of its job
	amount redpacket.Money // 0: there is no such share
	round  int             // 0, or more than that of any earlier claim for the same user or share
	paid   bool
}

// claimKey identifies either a user in a packet, or a share of a packet. At most one stored claim has each key.
type claimKey struct {
	packet string
	share  int
	user   string
}

// packetsOf returns the packets of the claims, unique and sorted.
func packetsOf(jobs []*settleJob) []string {
	ids := make([]string, 0, len(jobs))
	for _, j := range jobs {
		if n := len(ids); n == 0 || ids[n-1] != j.ID {
			ids = append(ids, j.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// newClaimBatch answers the claims of missing packets, and separates the others into claims that may be paid and the
// rest. The former are sorted, so that two instances with the same claims do not deadlock. A later claim for the same
// user or share stays behind the earlier one.
func newClaimBatch(jobs []*settleJob, cut map[string][]redpacket.Money) *claimBatch {
	b := &claimBatch{packets: make([]string, 0, len(cut)), pay: make([]*claimRow, 0, len(jobs)), accounts: map[string]redpacket.Account{}, allNew: true}
	seen := make(map[claimKey]struct{}, len(jobs))
	rounds := make(map[claimKey]int, 2*len(jobs))
	for n, j := range jobs {
		shares, ok := cut[j.ID]
		if !ok {
			j.answer = unpayable("no such packet")
			continue
		}
		r := &claimRow{settleJob: j, n: n}
		if j.Share >= 0 && j.Share < len(shares) {
			r.amount = shares[j.Share]
		}
		key := claimKey{j.ID, j.Share, j.User}
		if _, twice := seen[key]; twice || r.amount == 0 {
			b.rest = append(b.rest, r)
			continue
		}
		seen[key] = struct{}{}
		share, user := claimKey{packet: j.ID, share: j.Share}, r.perUser()
		r.round = max(rounds[share], rounds[user]) + 1
		rounds[share], rounds[user] = r.round, r.round
		b.allNew = b.allNew && r.round == 1 && j.Entry != ""
		b.pay = append(b.pay, r)
	}
	for id := range cut {
		b.packets = append(b.packets, id)
	}
	slices.Sort(b.packets)
	slices.SortFunc(b.pay, func(x, y *claimRow) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.round, y.round), cmp.Compare(x.Share, y.Share))
	})
	for _, r := range b.pay {
		b.users = append(b.users, r.User)
	}
	slices.Sort(b.users)
	b.users = slices.Compact(b.users)
	return b
}

// perUser returns the key for the user of the claim: a user can have one claim in a packet.
func (r *claimRow) perUser() claimKey { return claimKey{packet: r.ID, share: -1, user: r.User} }
