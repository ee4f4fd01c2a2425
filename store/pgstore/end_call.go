package pgstore

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"hongbao/chat"
	"hongbao/redpacket"
)

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
