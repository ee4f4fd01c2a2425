package redpacket

import (
	"context"
	"time"
)

// RecoverAge is the age from which recovery settles a claim in the outbox.
const RecoverAge = recoverAge

// MostReclose is the longest pause between two closes of a packet that fail.
const MostReclose = mostReclose

// RainsKept is how many rains an instance follows.
const RainsKept = rainsKept

// FindRains reads once which rains are open.
func (s *Service) FindRains(ctx context.Context) error { return s.findRains(ctx) }

// PartitionOf returns the partition of a packet with this id.
func PartitionOf(packet string) int { return partitionOf(packet) }

// Idle blocks until no background goroutine of the service runs.
func (s *Service) Idle() { s.background.running.Wait() }

// Pass runs each background task once, now, instead of at the ticks of Run.
func (s *Service) Pass(ctx context.Context) {
	s.recordTask("recovery", &s.counts.recover, s.recovery.run(ctx))
	s.recordTask("backstop", &s.counts.backstop, s.flow.backstop(ctx, func(p Ref) { s.closeSoon(p) }))
	s.closeDeletedRooms(ctx)
	s.endFromBefore(ctx)
	s.sweep(ctx)
	s.Idle()
}

// AuditIfDue looks once whether an audit is due, as Run does.
func (s *Service) AuditIfDue(ctx context.Context) error { return s.auditIfDue(ctx) }

// RenewAuditsEvery sets how often an audit that runs renews its lease.
func (s *Service) RenewAuditsEvery(d time.Duration) { s.auditRenew = d }

// TakeSample takes a sample, if it is the turn of this service.
func (s *Service) TakeSample(ctx context.Context) error { return s.sample(ctx) }

// ClosesOfDraws returns how many closes of draws run.
func (s *Service) ClosesOfDraws() (n int) {
	s.drawSlots.mu.Lock()
	defer s.drawSlots.mu.Unlock()
	for _, used := range s.drawSlots.used {
		n += used
	}
	return n
}

// WaitToBind returns how many grabs of the packet wait for the next transaction that binds persons.
func (s *Service) WaitToBind(packet string) int {
	s.binding.mu.Lock()
	defer s.binding.mu.Unlock()
	return len(s.binding.packets[packet])
}
