package load

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are noted in microseconds, up to two minutes, with three digits.
const (
	shortest = 1
	longest  = int64(2 * time.Minute / time.Microsecond)
	digits   = 3
)

// series is how long one thing took, time after time. Readers of sockets note at once, so it is in parts.
type series struct {
	name  string
	next  atomic.Uint32
	parts [4]seriesPart
}

type seriesPart struct {
	mu     sync.Mutex
	before *hdrhistogram.Histogram // guarded by mu: since the window began, until the last line
	lately *hdrhistogram.Histogram // guarded by mu: since then
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(shortest, longest, digits) }

func newSeries(name string) *series {
	s := &series{name: name}
	for i := range s.parts {
		s.parts[i].before, s.parts[i].lately = newHistogram(), newHistogram()
	}
	return s
}

// note a time. What took longer than can be told counts as the longest.
func (s *series) note(took time.Duration) {
	value := min(max(took.Microseconds(), shortest), longest)
	p := &s.parts[s.next.Add(1)%uint32(len(s.parts))]
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.lately.RecordValue(value) // it is within what the histogram holds
}

// all is a copy of what was noted since the window began.
func (s *series) all() *hdrhistogram.Histogram {
	sum := newHistogram()
	for i := range s.parts {
		p := &s.parts[i]
		p.mu.Lock()
		sum.Merge(p.before)
		sum.Merge(p.lately)
		p.mu.Unlock()
	}
	return sum
}

// recent is what was noted since it was asked last.
func (s *series) recent() *hdrhistogram.Histogram {
	sum := newHistogram()
	for i := range s.parts {
		p := &s.parts[i]
		p.mu.Lock()
		sum.Merge(p.lately)
		p.before.Merge(p.lately)
		p.lately.Reset()
		p.mu.Unlock()
	}
	return sum
}

// clear forgets everything.
func (s *series) clear() {
	for i := range s.parts {
		p := &s.parts[i]
		p.mu.Lock()
		p.before.Reset()
		p.lately.Reset()
		p.mu.Unlock()
	}
}
