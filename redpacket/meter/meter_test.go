package meter

import (
	"sync"
	"testing"
	"time"
)

func TestHistogramCountsEachValueOnce(t *testing.T) {
	h := newHistogram(10, 10, 20)
	for _, value := range []int64{1, 10, 11, 20, 21, 1000} {
		h.Observe(value)
	}
	c := h.Read()
	if c.Count != 6 || c.Sum != 106.3 || len(c.Buckets) != 2 || c.Buckets[1] != 2 || c.Buckets[2] != 4 {
		t.Errorf("read %+v, want 6 values of together 106.3: 2 up to 1, 4 up to 2", c)
	}
}

func TestHistogramsAreSafeForConcurrentUse(t *testing.T) {
	h := NewDurations()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				h.Observe(int64(time.Millisecond))
			}
		})
	}
	all.Wait()
	if c := h.Read(); c.Count != 4000 || c.Buckets[.0005] != 0 || c.Buckets[.001] != 4000 || c.Sum < 3.999 || c.Sum > 4.001 {
		t.Errorf("read %+v, want 4000 values of 1 ms", c)
	}
}

func TestQuantile(t *testing.T) {
	c := Counts{Count: 100, Buckets: map[float64]uint64{1: 49, 2: 50, 5: 98, 10: 98}}
	for part, want := range map[float64]float64{0.01: 1, 0.49: 1, 0.5: 2, 0.51: 5, 0.98: 5, 0.99: 0} {
		if got := c.Quantile(part); got != want {
			t.Errorf("quantile %v: %v, want %v", part, got, want)
		}
	}
	if got := (Counts{Buckets: map[float64]uint64{1: 0}}).Quantile(0.5); got != 0 {
		t.Errorf("quantile of no values: %v", got)
	}
}

func TestBatchesMeasureSizeAndTime(t *testing.T) {
	b := NewBatches()
	b.Done(3, time.Now().Add(-time.Hour))
	w := b.Work("postgres", "claims", 7)
	if w.Engine != "postgres" || w.Name != "claims" || w.Waiting != 7 || w.Size.Sum != 3 || w.Took.Count != 1 || w.Took.Sum < 3600 {
		t.Errorf("%+v, want one batch of 3 that took an hour, and 7 that wait", w)
	}
}

func TestObserveAllocatesNothing(t *testing.T) {
	b := NewBatches()
	began := time.Now()
	if n := testing.AllocsPerRun(100, func() { b.Done(1, began) }); n > 0 {
		t.Errorf("a measurement allocates %v times, want none", n)
	}
}

func BenchmarkDone(b *testing.B) {
	batches := NewBatches()
	began := time.Now()
	for b.Loop() {
		batches.Done(4, began)
	}
}
