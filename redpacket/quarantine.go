package redpacket

import (
	"context"
	"time"

	"hongbao/chat"
)

// Quarantined is a claim that could not be paid: a row of the quarantine.
type Quarantined struct {
	ID     int64
	At     time.Time
	Packet string
	User   string
	Share  int64
	Why    string
	State  QuarantineState
}

// QuarantineState says what has become of a claim in quarantine.
type QuarantineState string

// The states of claims in quarantine. Only a claim that is unpaid can be paid by RetryQuarantined.
const (
	QuarantineUnpaid QuarantineState = "unpaid" // the packet is open, and the claim is not paid
	QuarantinePaid   QuarantineState = "paid"   // the user has a share of the packet, or this one of a rain
	QuarantineEnded  QuarantineState = "ended"  // the packet has ended, and the share's money is with its sender or with another user
	QuarantineLost   QuarantineState = "lost"   // the database does not have the packet
)

// Quarantine is the part of the Ledger that keeps claims which could not be paid.
type Quarantine interface {
	// Quarantine stores claims that can never be paid in a table of their own, so that an operator can examine them.
	Quarantine(ctx context.Context, claims []Claim, why string) error
	// QuarantinedAfter lists the claims in quarantine by id, starting with the one that follows after.
	QuarantinedAfter(ctx context.Context, after int64, limit int) ([]Quarantined, error)
}

// Quarantined lists the claims in quarantine by id, starting with the one that follows after.
func (s *Service) Quarantined(ctx context.Context, after int64, limit int) ([]Quarantined, error) {
	return s.ledger.QuarantinedAfter(ctx, after, limit)
}

// RetryQuarantined settles a claim in quarantine again, if it is unpaid. It returns the claim with the state after that. If the
// claim still cannot be paid, it stays unpaid, and Why is the new reason. The row stays in the quarantine as a record. It returns
// chat.ErrNotFound for an unknown id. It uses only the Ledger: the Pool has the grant of the claim until the packet ends.
func (s *Service) RetryQuarantined(ctx context.Context, id int64) (Quarantined, error) {
	q, err := s.quarantinedByID(ctx, id)
	if err != nil || q.State != QuarantineUnpaid {
		return q, err
	}
	p, err := s.ledger.Packet(ctx, q.Packet)
	if err != nil {
		return Quarantined{}, err
	}
	c := Claim{Ref: p.Ref, Share: int(q.Share), User: q.User, At: s.o.Now()}
	if p.Rain.Waves > 0 {
		waves, err := s.ledger.Waves(ctx, p.ID)
		if err != nil {
			return Quarantined{}, err
		}
		for _, g := range winnersOf(waves) {
			if g.Share == c.Share {
				c.Wave = g.Wave
			}
		}
	}
	settled := s.ledger.Settle(ctx, []Claim{c})
	if err := UnsettledErr(settled); err != nil {
		return Quarantined{}, err
	}
	switch v := settled[0]; v.Verdict {
	case PaidNow:
		s.paid(ctx, c, v)
		s.o.Log.Info("claim in quarantine paid", "packet", c.ID, "share", c.Share, "user", c.User)
		q.State = QuarantinePaid
	case Unpayable, Unbound:
		q.Why = v.Why
	case Conflict:
		q.Why = "another user has the share"
	default: // the claim was paid, or the packet has ended, since the row was read
		return s.quarantinedByID(ctx, id)
	}
	return q, nil
}

func (s *Service) quarantinedByID(ctx context.Context, id int64) (Quarantined, error) {
	if id <= 0 {
		return Quarantined{}, chat.ErrNotFound
	}
	found, err := s.ledger.QuarantinedAfter(ctx, id-1, 1)
	switch {
	case err != nil:
		return Quarantined{}, err
	case len(found) == 0 || found[0].ID != id:
		return Quarantined{}, chat.ErrNotFound
	}
	return found[0], nil
}
