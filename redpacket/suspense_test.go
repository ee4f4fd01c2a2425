package redpacket

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// heard is a Waiter.
type heard func() (told bool)

func (h heard) Pending(Result) bool { return h() }

// granted is the suspense of a grab whose share is granted by now.
func granted(due time.Time, h heard) *suspense {
	s := newSuspense(h, due, &Packet{})
	s.granted(1)
	return s
}

// TestSuspense: who waits for a commit hears so once, when his time has come, and not after the end.
func TestSuspense(t *testing.T) {
	for what, c := range map[string]struct {
		granted, over time.Duration // since the grab came
		taken         bool          // whether it can be told
		heard         time.Duration
		told          bool
	}{
		"in time":               {0, time.Second - 1, true, 0, false},
		"too slow":              {0, 5 * time.Second, true, time.Second, true},
		"granted after a while": {time.Second / 2, 5 * time.Second, true, time.Second, true},
		"granted late":          {3 * time.Second, 5 * time.Second, true, 3 * time.Second, true},
		"too many wait already": {0, 5 * time.Second, false, time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			came, heard := time.Now(), time.Duration(0)
			time.Sleep(c.granted)
			s := granted(came.Add(time.Second), func() bool {
				if heard != 0 {
					t.Errorf("%s: heard twice", what)
				}
				heard = time.Since(came)
				return c.taken
			})
			time.Sleep(c.over - c.granted)
			synctest.Wait()
			told := s.end()
			time.Sleep(time.Hour)
			synctest.Wait()
			if told != c.told || heard != c.heard {
				t.Errorf("%s: told %t, heard at %v, want %t, %v", what, told, heard, c.told, c.heard)
			}
		})
	}
}

// TestNothingIsToldAfterTheEnd: not even by a clock that had rung, and only then came to tell.
func TestNothingIsToldAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := granted(time.Now().Add(time.Second), func() bool {
			t.Error("told after the end")
			return true
		})
		s.mu.Lock()
		s.over = true // what end does when it is too late to stop the clock
		s.mu.Unlock()
		time.Sleep(time.Minute)
	})
}

// TestSuspenseOrOutcome: however close they come, what end says is what was heard, and nothing is heard after it.
func TestSuspenseOrOutcome(t *testing.T) {
	var all sync.WaitGroup
	for i := range 2000 {
		all.Go(func() {
			var heard, over bool // a race, were they not kept apart
			s := granted(time.Now().Add(time.Duration(i%50)*time.Microsecond), func() bool {
				heard = true
				if over {
					t.Error("told after the end")
				}
				return true
			})
			for until := time.Now().Add(25 * time.Microsecond); time.Now().Before(until); {
			}
			if told := s.end(); told != heard {
				t.Errorf("told %t, heard %t", told, heard)
			}
			over = true
		})
	}
	all.Wait()
}
