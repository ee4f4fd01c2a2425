package redpacket

import (
	"context"
	"fmt"
	"time"

	"hongbao/chat"
)

// SelfLimitDelay is how long it takes until a user that raises or removes a limit of their own may use it.
const SelfLimitDelay = 24 * time.Hour

// SelfLimit is the most that a user wants to send, or to receive, in packets a day. The user lowers it at once, and raises or removes it
// after SelfLimitDelay. It never allows more than the limits of the service and of the host.
type SelfLimit struct {
	Most *int64    // nil: no limit
	Next *int64    // takes the place of Most at From; nil: no limit
	From time.Time // zero: nothing takes its place
}

// SelfLimits are the limits that a user has set.
type SelfLimits struct{ Sent, Received SelfLimit }

// SelfLimitsChange replaces those limits of a user that are not nil. NoLimit removes a limit.
type SelfLimitsChange struct{ Sent, Received *int64 }

// At returns the limit at a time, without what follows later.
func (l SelfLimit) At(now time.Time) SelfLimit {
	if !l.From.IsZero() && !now.Before(l.From) {
		return SelfLimit{Most: l.Next}
	}
	return l
}

// change returns the limit after the user has asked for another one. A pending raise keeps its time if the user now asks for less of it.
func (l SelfLimit) change(asked int64, now time.Time) SelfLimit {
	l = l.At(now)
	var to *int64
	if asked != NoLimit {
		to = &asked
	}
	switch {
	case !above(to, l.Most):
		return SelfLimit{Most: to}
	case l.From.IsZero() || above(to, l.Next):
		l.From = now.Add(SelfLimitDelay)
	}
	l.Next = to
	return l
}

// Change returns the limits after a change.
func (l SelfLimits) Change(c SelfLimitsChange, now time.Time) SelfLimits {
	if c.Sent != nil {
		l.Sent = l.Sent.change(*c.Sent, now)
	}
	if c.Received != nil {
		l.Received = l.Received.change(*c.Received, now)
	}
	return l
}

// At returns the limits at a time.
func (l SelfLimits) At(now time.Time) SelfLimits {
	return SelfLimits{Sent: l.Sent.At(now), Received: l.Received.At(now)}
}

// above reports whether the limit a allows more than b.
func above(a, b *int64) bool { return b != nil && (a == nil || *a > *b) }

// least returns the smaller of a limit, which may be NoLimit, and one that may be nil.
func least(limit int64, other *int64) int64 {
	if other != nil && (limit == NoLimit || *other < limit) {
		return *other
	}
	return limit
}

// SetSelfLimits changes the limits that the user has set. Today returns them.
func (s *Service) SetSelfLimits(ctx context.Context, user string, c SelfLimitsChange) error {
	if c == (SelfLimitsChange{}) {
		return chat.BadField("sent", "or received must be given")
	}
	for _, l := range []struct {
		field string
		limit *int64
	}{{"sent", c.Sent}, {"received", c.Received}} {
		if l.limit != nil && (*l.limit < NoLimit || *l.limit > int64(MaxMoney)) {
			return chat.BadField(l.field, fmt.Sprintf("must be from -1 to %d", MaxMoney))
		}
	}
	err := s.ledger.SetSelfLimits(ctx, user, c, s.o.Now())
	s.rooms.Forget("", user) // also after an error: the outcome may be unknown
	s.pub.StandingChanged("", user)
	return err
}
