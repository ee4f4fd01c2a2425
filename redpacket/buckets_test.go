package redpacket

import (
	"strconv"
	"testing"
	"time"

	"hongbao/chat"
)

// TestBuckets: a burst, then one at a time; and what is full again is not kept.
func TestBuckets(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	b := newBuckets(func() time.Time { return now })
	rate := chat.Rate{PerSecond: 0.5, Burst: 3}
	take := func(want time.Duration) {
		t.Helper()
		if wait, err := b.Take(t.Context(), "k", rate); err != nil || wait != want {
			t.Errorf("wait %v, %v, want %v", wait, err, want)
		}
	}
	for _, want := range []time.Duration{0, 0, 0, 2 * time.Second, 2 * time.Second} {
		take(want)
	}
	now = now.Add(1500 * time.Millisecond)
	take(500 * time.Millisecond)
	now = now.Add(500 * time.Millisecond)
	take(0)
	take(2 * time.Second)

	for i := range 1000 {
		_, _ = b.Take(t.Context(), strconv.Itoa(i), rate)
	}
	now = now.Add(4 * time.Second) // all but "k" are full, and the time to look has not come
	take(0)
	take(0)
	now = now.Add(4 * time.Second)
	take(0)
	if len(b.full) != 1 {
		t.Errorf("%d buckets are kept", len(b.full))
	}
	take(0)
	take(2 * time.Second) // k was not forgotten
}
