package redpacket

import (
	"sync/atomic"
	"time"
)

// stall detects that the claims of one packet cannot be settled, for example while the packet's row is locked. Then
// grabs of this packet are refused before the Pool grants them, because their claims would fill the outbox that other
// packets share. From time to time one grab is let through as a test. The zero value is ready for use.
type stall struct {
	unsettled atomic.Int32 // claims that could not be settled since the last one that was paid
	tried     atomic.Int64 // when the last grab was let through, in Unix milliseconds
}

const (
	stallAfter = 64 // in claims; fewer failures may all be of one user whose wallet is locked
	stallTry   = 250 * time.Millisecond
)

// failed records a claim that could not be settled.
func (s *stall) failed() { s.unsettled.Add(1) }

// succeeded records that a claim was paid.
func (s *stall) succeeded() {
	if s.unsettled.Load() != 0 {
		s.unsettled.Store(0)
	}
}

// refuses reports whether a grab must be refused. Every stallTry it lets one grab through.
func (s *stall) refuses(now time.Time) bool {
	if s.unsettled.Load() < stallAfter {
		return false
	}
	last := s.tried.Load()
	return now.UnixMilli()-last < stallTry.Milliseconds() || !s.tried.CompareAndSwap(last, now.UnixMilli())
}
