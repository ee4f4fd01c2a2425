package redpacket

import (
	"sync"
	"time"
)

// suspense is a grab whose share may be granted before its commit has come. When that takes too long its user hears so,
// unless it is over by then: what was told pending has its outcome pushed, all else has it returned, never both.
type suspense struct {
	// static
	waiter Waiter
	due    time.Time
	packet *Packet

	timer *time.Timer // nil: no share is granted yet
	taken int         // of the shares then

	mu   sync.Mutex // held while he is told, so that the end waits for what becomes of it
	told bool       // guarded by mu
	over bool       // guarded by mu
}

// newSuspense is for a grab whose waiter wants to know at the due time; nil: nobody does.
func newSuspense(w Waiter, due time.Time, p *Packet) *suspense {
	if w == nil {
		return nil
	}
	return &suspense{waiter: w, due: due, packet: p}
}

// granted says that a share is, which is when the suspense begins.
func (s *suspense) granted(taken int) {
	if s != nil && s.timer == nil {
		s.taken = taken
		s.timer = time.AfterFunc(time.Until(s.due), s.tell)
	}
}

func (s *suspense) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.told = s.waiter.Pending(Result{Packet: s.packet.ID, Outcome: OutcomePending, Claimed: s.taken, Count: s.packet.Count})
	}
}

// end tells whether he was told; if not, he will not be.
func (s *suspense) end() (told bool) {
	if s == nil || s.timer == nil || s.timer.Stop() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	return s.told
}
