package main

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestFastCollectionsAllowMoreGarbage lets collections follow each other at different intervals. More garbage must be
// allowed while they come fast, and only then.
func TestFastCollectionsAllowMoreGarbage(t *testing.T) {
	synctest.Test(t, testCollections)
}

func testCollections(t *testing.T) {
	var calmed atomic.Int32
	c := collections{last: time.Now(), calm: time.AfterFunc(idleGap, func() { calmed.Add(1) })}
	for _, step := range []struct {
		after time.Duration
		live  uint64
		want  int
	}{
		{time.Minute, 16 << 20, idlePercent},
		{time.Second, 16 << 20, idlePercent},
		{time.Second / 20, 16 << 20, 200},
		{time.Second, 16 << 20, 200}, // still busy: collections are rarer because more garbage is allowed
		{time.Second, 32 << 20, 100}, // the same number of bytes is a smaller share of more live memory
		{time.Second / 10, 512 << 20, idlePercent},
		{3 * time.Second, 16 << 20, idlePercent},
	} {
		time.Sleep(step.after)
		if got := c.collected(time.Now(), step.live); got != step.want {
			t.Errorf("a collection %v after the last, with %d MiB alive, allows %d percent of garbage, want %d", step.after, step.live>>20, got, step.want)
		}
	}
	time.Sleep(time.Minute)
	if n := calmed.Load(); n != 2 {
		t.Errorf("%d collections because it was calm, want 2: one at the start and one after the busy time", n)
	}
}
