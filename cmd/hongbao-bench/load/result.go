package load

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is the result of a plan.
type Result struct {
	Plan       Plan             `json:"plan"`
	Seconds    float64          `json:"seconds"` // length of the measured window
	Series     []Figures        `json:"series"`
	Errors     map[string]int64 `json:"errors"`
	Lost       int64            `json:"lost"`   // connections that broke although this program did not close them
	Resent     int64            `json:"resent"` // how often commands were sent again
	Checks     []Check          `json:"checks"`
	Operation  string           `json:"operation"` // the operation that CPU times refer to
	Parts      []Part           `json:"parts"`
	Bottleneck string           `json:"bottleneck"`
}

// Figures are the results of one series. Times are in milliseconds.
type Figures struct {
	Name        string    `json:"name"`
	Count       int64     `json:"count"`
	PerSecond   float64   `json:"per_second"`
	Percentiles []float64 `json:"percentiles"` // the percentiles named in Shown, in this order
	Max         float64   `json:"max"`
}

// Shown are the percentiles that are reported.
var Shown = []float64{50, 90, 99, 99.9}

// OK reports whether every check held.
func (r Result) OK() bool {
	for _, c := range r.Checks {
		if !c.Held {
			return false
		}
	}
	return true
}

// Of returns the figures of the series with this name, or empty figures if there is none.
func (r Result) Of(name string) Figures {
	for _, f := range r.Series {
		if f.Name == name {
			return f
		}
	}
	return figures(name, newHistogram(), time.Second)
}

// At returns the given percentile, which must be one of Shown.
func (f Figures) At(percentile float64) time.Duration {
	for i, p := range Shown {
		if p == percentile {
			return time.Duration(f.Percentiles[i] * float64(time.Millisecond))
		}
	}
	return 0
}

// Names of series that other packages use.
const (
	Won       = "grab won"
	Delivered = "message delivered"
	Reconnect = "reconnect"
)

func figures(name string, h *hdrhistogram.Histogram, took time.Duration) Figures {
	f := Figures{Name: name, Count: h.TotalCount(), PerSecond: float64(h.TotalCount()) / took.Seconds(), Max: milliseconds(h.Max())}
	for _, p := range Shown {
		f.Percentiles = append(f.Percentiles, milliseconds(h.ValueAtPercentile(p)))
	}
	return f
}

func milliseconds(micros int64) float64 { return float64(micros) / 1000 }

// seen returns the figures of all series that are not empty.
func seen(all []*series, took time.Duration) (list []Figures) {
	for _, s := range all {
		if h := s.all(); h.TotalCount() > 0 {
			list = append(list, figures(s.name, h, took))
		}
	}
	return list
}

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

// operations returns the kind of operation that CPU times are divided by, and how many of them the load made.
func (c *group) operations(took time.Duration) (name string, n float64) {
	count := func(all ...*series) (sum float64) {
		for _, s := range all {
			sum += float64(s.all().TotalCount())
		}
		return sum
	}
	switch b := c.runStats; c.plan.Scenario {
	case "grab":
		return "grab", count(b.won, b.notWon)
	case "chat":
		return "delivery", count(b.delivered)
	case "storm":
		return "return", count(b.reconnects)
	}
	return "user and second", float64(len(c.users)) * took.Seconds()
}

// each divides the part's CPU time by n operations and stores the result.
func (p *Part) each(n float64, took time.Duration) {
	if n > 0 {
		p.Micros = p.Cores * float64(took.Microseconds()) / n
	}
}
