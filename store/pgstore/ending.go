package pgstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"hongbao/chat"
	"hongbao/redpacket"
)

// ending is a packet on its way to its end, over all runs of the transaction.
type ending struct {
	redpacket.Close

	transfers map[redpacket.Grant]string // ids of movements, made once: by them a later run knows what an earlier one did
	refund    string                     // that of the refund
	refused   map[redpacket.Grant]bool   // Postgres does not take them
	early     map[redpacket.Grant]bool   // paid by this call before the end
	late      []redpacket.Grant          // paid with the end, as of the last run
}

func newEnding(c redpacket.Close) *ending {
	return &ending{
		Close: c, transfers: map[redpacket.Grant]string{}, refund: chat.NewID(c.At),
		refused: map[redpacket.Grant]bool{}, early: map[redpacket.Grant]bool{},
	}
}

// lacking finds the grants that SQL lacks and whose user and share are both free.
func (e *ending) lacking(b redpacket.Book) {
	users, shares := map[string]bool{}, make([]bool, len(b.Shares))
	for _, p := range b.Claims {
		users[p.User.ID], shares[p.Share] = true, true
	}
	e.late = nil
	for _, g := range e.Grants {
		if g.Share < 0 || g.Share >= len(shares) || shares[g.Share] || users[g.User] || e.refused[g] {
			continue
		}
		users[g.User], shares[g.Share] = true, true
		e.late = append(e.late, g)
		if e.transfers[g] == "" {
			e.transfers[g] = chat.NewID(e.At)
		}
	}
}

// left is what the sender gets back.
func (e *ending) left(b redpacket.Book) (redpacket.Money, error) {
	left := b.Packet.Total
	for _, p := range b.Claims {
		left -= p.Amount
	}
	for _, g := range e.late {
		left -= b.Shares[g.Share]
	}
	if left < 0 { // impossible unless somebody wrote into the database: stop rather than go on wrong
		return 0, fmt.Errorf("packet %s has paid %d more than its total", e.ID, -left)
	}
	return left, nil
}

// inserted are those of the claims that this call had to add.
func (e *ending) inserted(claims []redpacket.Paid) (added []redpacket.Paid) {
	mine := maps.Clone(e.early)
	for _, g := range e.late {
		mine[g] = true
	}
	for _, p := range claims {
		if mine[redpacket.Grant{User: p.User.ID, Share: p.Share}] {
			added = append(added, p)
		}
	}
	return added
}

// paid are the users whom this call has paid, the sender too when there was a refund, sorted and each once.
func (e *ending) paid(b redpacket.Book) []string {
	users := map[string]bool{}
	for _, g := range e.late {
		users[g.User] = true
	}
	for g := range e.early {
		users[g.User] = true
	}
	if b.Refunded > 0 {
		users[b.Packet.From.ID] = true
	}
	return slices.Sorted(maps.Keys(users))
}

func (e *ending) ids() []string { return slices.Collect(maps.Values(e.transfers)) }

// weed finds which of the late grants Postgres refuses: each is settled for itself, and what cannot be goes to the refund.
func (s *Store) weed(ctx context.Context, e *ending) error {
	claims := make([]redpacket.Claim, len(e.late))
	for i, g := range e.late {
		claims[i] = redpacket.Claim{Ref: e.Ref, Share: g.Share, User: g.User, At: e.At}
	}
	settled, err := s.Settle(ctx, claims)
	for i, v := range settled {
		switch v.Verdict {
		case redpacket.PaidNow:
			e.early[e.late[i]] = true
		case redpacket.Unpayable:
			e.refused[e.late[i]] = true
			s.log.Error("grant cannot be paid", "packet", e.ID, "share", e.late[i].Share, "why", v.Why)
		}
	}
	return err
}
