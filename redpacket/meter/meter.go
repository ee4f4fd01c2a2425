package meter

import (
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// Histogram counts values in buckets. It is safe for concurrent use.
type Histogram struct {
	// static
	bounds []int64 // upper bounds of the buckets, ascending
	unit   float64 // Read divides values by it

	counts []atomic.Uint64 // by bucket; the last one has the values above all bounds
	sum    atomic.Int64
}

// NewSizes returns a histogram of numbers, such as the jobs in a batch.
func NewSizes() *Histogram { return newHistogram(1, 1, 2, 5, 10, 20, 50, 100, 200, 500) }

// NewDurations returns a histogram of durations, which are read in seconds.
func NewDurations() *Histogram {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	return newHistogram(float64(time.Second),
		250*us, 500*us, ms, 2500*us, 5*ms, 10*ms, 25*ms, 50*ms, 100*ms, 250*ms, 500*ms, 1000*ms, 2500*ms, 5000*ms, 10_000*ms)
}

func newHistogram(unit float64, bounds ...int64) *Histogram {
	return &Histogram{bounds: bounds, unit: unit, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe counts a value.
func (h *Histogram) Observe(value int64) {
	i := 0
	for i < len(h.bounds) && value > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(value)
}

// Counts are the values that a histogram has counted so far.
type Counts struct {
	Count   uint64
	Sum     float64
	Buckets map[float64]uint64 // by upper bound: how many values are at most that bound
}

// Read returns what was counted so far. Values that are observed during the call may be in a bucket, but not in the sum.
func (h *Histogram) Read() Counts {
	c := Counts{Sum: float64(h.sum.Load()) / h.unit, Buckets: make(map[float64]uint64, len(h.bounds))}
	for i := range h.counts {
		c.Count += h.counts[i].Load()
		if i < len(h.bounds) {
			c.Buckets[float64(h.bounds[i])/h.unit] = c.Count
		}
	}
	return c
}

// Since returns what was counted since an earlier reading of the same histogram.
func (c Counts) Since(before Counts) Counts {
	later := Counts{Count: c.Count - before.Count, Sum: c.Sum - before.Sum, Buckets: make(map[float64]uint64, len(c.Buckets))}
	for bound, n := range c.Buckets {
		later.Buckets[bound] = n - before.Buckets[bound]
	}
	return later
}

// Quantile returns the least bound that the part of the values does not exceed; 0: there are no values, or it is beyond the last bound.
func (c Counts) Quantile(part float64) (bound float64) {
	least := uint64(math.Ceil(part * float64(c.Count)))
	for _, at := range slices.Sorted(maps.Keys(c.Buckets)) {
		if c.Count > 0 && c.Buckets[at] >= least {
			return at
		}
	}
	return 0
}

// Batches measures the batches of one kind of work.
type Batches struct {
	size, took *Histogram
}

// NewBatches returns Batches that have measured nothing yet.
func NewBatches() *Batches { return &Batches{size: NewSizes(), took: NewDurations()} }

// Done measures a batch of size jobs that began at the given time and has ended now.
func (b *Batches) Done(size int, began time.Time) {
	b.size.Observe(int64(size))
	b.took.Observe(int64(time.Since(began)))
}

// Work is what is known of one kind of work that an engine does in batches.
type Work struct {
	Engine, Name string
	Waiting      int // jobs that now wait for their batch, or are in it
	Size, Took   Counts
}

// Work returns the figures of the batches, with the given number of jobs that wait.
func (b *Batches) Work(engine, name string, waiting int) Work {
	return Work{Engine: engine, Name: name, Waiting: waiting, Size: b.size.Read(), Took: b.took.Read()}
}

// Connections is the state of one pool of connections to an engine.
type Connections struct {
	Engine, Use string
	Open, Idle  int
	Most        int           // 0: unknown
	Waits       int64         // how often a caller had to wait for a connection, so far
	Waited      time.Duration // how long callers have waited, so far
	Failed      int64         // how often a caller got no connection in time, so far
}

// Bus is the state of the bus between instances.
type Bus struct {
	Queued, QueuedBytes int   // messages that wait to be sent
	Peers               int   // other instances that this one has heard lately, including those that have just become silent
	Dropped             int64 // messages that were dropped, because the queue was too long or they would arrive too late, so far
}

// Engines is what the engines of one instance measure.
type Engines struct {
	Work        []Work
	Connections []Connections
	Bus         *Bus // nil: there is none
}

// Questions is what was measured of the questions (see hook) to the host about one command.
type Questions struct {
	Command string
	Took    map[string]Counts // how long they took, by outcome
	Broken  bool              // the host does not answer, so that questions fail at once

	PreviewsLeftOut int64 // previews in the answers that break a rule
}
