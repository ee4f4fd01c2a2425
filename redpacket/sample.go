package redpacket

import (
	"context"
	"time"

	"hongbao/chat"
)

// A sample counts what waits in the books and in the outbox. A sample costs queries, so the instances take turns: every
// sampleEvery one of them takes a sample. An instance shows its sample until the sample is sampleStale old.
const (
	sampleEvery = 15 * time.Second
	sampleStale = time.Minute

	SamplePackets = 10_000  // most open packets, and most claims in quarantine, that a sample counts
	SampleClaims  = 100_000 // most claims whose amounts a sample adds up
)

// LedgerSample is what waits in the books. Its counts stop at SamplePackets.
type LedgerSample struct {
	Open        int           // open packets
	Escrow      Money         // money left in the counted open packets; too high if they have more than SampleClaims claims
	Overdue     int           // open packets whose deadline has passed
	Late        time.Duration // how long ago the earliest of these deadlines passed
	Quarantined int           // claims in quarantine
}

// Sample is what waits in the books and in the outbox.
type Sample struct {
	LedgerSample

	Outbox    int           // granted claims that are not settled and acked yet; -1: the Pool could not count them
	OutboxAge time.Duration // age of the oldest of them; 0: there is none, or the Pool could not count them

	taken time.Time
}

// LastSample returns the newest sample of this instance. It returns nil if there is none, or if it is older than
// sampleStale: then other instances may have taken later ones.
func (s *Service) LastSample() *Sample {
	last := s.sampled.Load()
	if last == nil || s.o.Now().Sub(last.taken).Abs() > sampleStale {
		return nil
	}
	return last
}

// sample takes a sample, if it is this instance's turn. While the limiter fails, every instance takes samples.
func (s *Service) sample(ctx context.Context) error {
	if s.o.Limiter != nil {
		wait, err := s.o.Limiter.Take(ctx, "sample", chat.Rate{PerSecond: 1 / sampleEvery.Seconds(), Burst: 1})
		if err == nil && wait > 0 {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, detachedTimeout)
	defer cancel()
	now := s.o.Now()
	books, err := s.ledger.Sample(ctx, now)
	if err != nil {
		return err
	}
	taken := &Sample{LedgerSample: books, Outbox: -1, taken: now}
	claims, oldest, err := s.pool.Outbox(ctx)
	if err == nil {
		taken.Outbox = claims
	}
	if !oldest.IsZero() {
		taken.OutboxAge = max(0, now.Sub(oldest))
	}
	s.sampled.Store(taken)
	return err
}
