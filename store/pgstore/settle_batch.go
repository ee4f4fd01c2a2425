package pgstore

import (
	"cmp"
	"slices"

	"hongbao/redpacket"
)

// batch is the claims of one transaction.
type batch struct {
	packets []string // those which they are of, sorted
	users   []string // whom it may pay, each once, sorted
	pay     []*order // to be tried, in the order of their rows
	rest    []*order // what became of them is to be found out
	fresh   bool     // all of pay were just granted, and none is for the same user or share as another

	paid     int64                        // how many of pay were
	accounts map[string]redpacket.Account // of those whom it has paid, after it
}

// order is a claim with all that its row needs.
type order struct {
	*settling

	n      int             // its place among the jobs
	amount redpacket.Money // 0: there is no such share
	round  int             // later ones for the same user or share come in later rounds
	paid   bool
}

// place is what at most one claim can have: a user, or a share, in a packet.
type place struct {
	packet string
	share  int
	user   string
}

// packetsOf are the packets, each once, sorted.
func packetsOf(jobs []*settling) []string {
	ids := make([]string, 0, len(jobs))
	for _, j := range jobs {
		if n := len(ids); n == 0 || ids[n-1] != j.ID {
			ids = append(ids, j.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// sortBatch answers the claims of packets that do not exist, and finds out which of the others can have a row. They are
// sorted, so that two instances with the same claims do not wait for each other crosswise; a later claim for
// the same user or share yet comes after the earlier one.
func sortBatch(jobs []*settling, cut map[string][]redpacket.Money) *batch {
	b := &batch{packets: make([]string, 0, len(cut)), pay: make([]*order, 0, len(jobs)), accounts: map[string]redpacket.Account{}, fresh: true}
	seen := make(map[place]struct{}, len(jobs))
	rounds := make(map[place]int, 2*len(jobs))
	for n, j := range jobs {
		shares, ok := cut[j.ID]
		if !ok {
			j.answer = unpayable("no such packet")
			continue
		}
		o := &order{settling: j, n: n}
		it := place{j.ID, j.Share, j.User}
		_, twice := seen[it]
		if twice || j.Share < 0 || j.Share >= len(shares) {
			b.rest = append(b.rest, o)
			continue
		}
		seen[it] = struct{}{}
		share, user := place{packet: j.ID, share: j.Share}, o.holder()
		o.amount, o.round = shares[j.Share], max(rounds[share], rounds[user])+1
		rounds[share], rounds[user] = o.round, o.round
		b.fresh = b.fresh && o.round == 1 && j.Entry != ""
		b.pay = append(b.pay, o)
	}
	for id := range cut {
		b.packets = append(b.packets, id)
	}
	slices.Sort(b.packets)
	slices.SortFunc(b.pay, func(x, y *order) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.round, y.round), cmp.Compare(x.Share, y.Share))
	})
	for _, o := range b.pay {
		b.users = append(b.users, o.User)
	}
	slices.Sort(b.users)
	b.users = slices.Compact(b.users)
	return b
}

// holder is the order's user as one who can have one share of the packet.
func (o *order) holder() place { return place{packet: o.ID, share: -1, user: o.User} }
