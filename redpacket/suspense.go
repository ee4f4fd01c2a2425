package redpacket

import (
	"sync"
	"time"
)

// suspense is a grab whose share is granted and whose commit has not come. When it takes too long its user hears so,
// unless it is over by then: what was told pending has its outcome pushed, all else has it returned, never both.
type suspense struct {
	timer *time.Timer

	mu   sync.Mutex // held while he is told, so that the end waits for what becomes of it
	told bool       // guarded by mu
	over bool       // guarded by mu
}

// newSuspense has the user told at the due time, if it is not over then.
func newSuspense(due time.Time, tell func() bool) *suspense {
	s := &suspense{}
	s.timer = time.AfterFunc(time.Until(due), func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.over {
			s.told = tell()
		}
	})
	return s
}

// end tells whether he was told; if not, he will not be. Nil: there was nothing to wait for.
func (s *suspense) end() (told bool) {
	if s == nil {
		return false
	}
	s.timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	return s.told
}
