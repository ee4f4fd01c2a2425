package load

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Latencies are recorded in microseconds, up to two minutes, with three digits.
const (
	shortest = 1
	longest  = int64(2 * time.Minute / time.Microsecond)
	digits   = 3
)

// series is the distribution of one latency. It has several parts, because many goroutines record at the same time.
type series struct {
	name  string
	next  atomic.Uint32
	parts [4]seriesPart
}

type seriesPart struct {
	mu     sync.Mutex
	values *hdrhistogram.Histogram // guarded by mu
}

func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(shortest, longest, digits) }

func newSeries(name string) *series {
	s := &series{name: name}
	for i := range s.parts {
		s.parts[i].values = newHistogram()
	}
	return s
}

// note records a time. A time over the maximum counts as the maximum.
func (s *series) note(took time.Duration) {
	value := min(max(took.Microseconds(), shortest), longest)
	p := &s.parts[s.next.Add(1)%uint32(len(s.parts))]
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.values.RecordValue(value) // the value is in the histogram's range
}

// all returns a copy of the values since the last call of clear.
func (s *series) all() *hdrhistogram.Histogram {
	sum := newHistogram()
	for i := range s.parts {
		p := &s.parts[i]
		p.mu.Lock()
		sum.Merge(p.values)
		p.mu.Unlock()
	}
	return sum
}

// clear drops all values.
func (s *series) clear() {
	for i := range s.parts {
		p := &s.parts[i]
		p.mu.Lock()
		p.values.Reset()
		p.mu.Unlock()
	}
}
