package memstore

import (
	"strconv"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/store/storetest"
)

func TestLimiter(t *testing.T) {
	storetest.TestLimiter(t, func(*testing.T) storetest.LimiterUnderTest {
		c := &clock{now: time.Unix(1_700_000_000, 0)}
		l := NewLimiter(LimiterOptions{Now: c.Now})
		return storetest.LimiterUnderTest{A: l, B: l, Advance: c.Advance}
	})
}

// TestLimiterHoldsNoFullBucket lets many buckets become full again. Later calls must drop them from memory.
func TestLimiterHoldsNoFullBucket(t *testing.T) {
	c := &clock{now: time.Unix(1_700_000_000, 0)}
	l := NewLimiter(LimiterOptions{Now: c.Now})
	take := func(key string, r chat.Rate) {
		t.Helper()
		if wait, err := l.Take(t.Context(), key, r); err != nil || wait != 0 {
			t.Fatalf("%s: wait %v, %v", key, wait, err)
		}
	}
	for n := range 1_000 {
		take("crowd "+strconv.Itoa(n), chat.Rate{PerSecond: 10, Burst: 20})
	}
	take("slow", chat.Rate{PerSecond: 0.001, Burst: 1})
	c.Advance(sweepEvery)
	take("one", chat.Rate{PerSecond: 10, Burst: 20})
	if len(l.full) != 2 {
		t.Errorf("%d buckets are kept, want the one in use and the slow one", len(l.full))
	}
}

// TestLimiterIsBounded uses more keys at once than a limiter may hold. A key whose bucket it holds keeps that bucket.
func TestLimiterIsBounded(t *testing.T) {
	c := &clock{now: time.Unix(1_700_000_000, 0)}
	l, one := NewLimiter(LimiterOptions{Now: c.Now}), chat.Rate{PerSecond: 0.001, Burst: 1}
	for n := range maxBuckets + 1000 {
		if wait, err := l.Take(t.Context(), strconv.Itoa(n), one); err != nil || wait != 0 {
			t.Fatalf("key %d: wait %v, %v", n, wait, err)
		}
	}
	if wait, err := l.Take(t.Context(), strconv.Itoa(maxBuckets+999), one); err != nil || wait == 0 {
		t.Errorf("the newest key has a token again: wait %v, %v", wait, err)
	}
	if len(l.full) != maxBuckets {
		t.Errorf("%d buckets are kept, want %d", len(l.full), maxBuckets)
	}
}

func TestTokenEvery(t *testing.T) {
	for perSecond, want := range map[float64]int64{10: 100_000, 3: 333_334, 0.5: 2_000_000, 1e9: 1, 0: 86_400_000_000} {
		if got := tokenEvery(chat.Rate{PerSecond: perSecond}); got != want {
			t.Errorf("%v a second: a token every %d µs, want %d", perSecond, got, want)
		}
	}
}
