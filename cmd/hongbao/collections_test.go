package main

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestCollections: room for garbage is given while collections come fast, and taken back when they do not.
func TestCollections(t *testing.T) {
	synctest.Test(t, testCollections)
}

func testCollections(t *testing.T) {
	var calmed atomic.Int32
	c := collections{last: time.Now(), calm: time.AfterFunc(seldom, func() { calmed.Add(1) })}
	for _, step := range []struct {
		after time.Duration
		live  uint64
		want  int
	}{
		{time.Minute, 16 << 20, tightly},
		{time.Second, 16 << 20, tightly},
		{time.Second / 20, 16 << 20, 200},
		{time.Second, 16 << 20, 200}, // the room makes them rarer: that is no reason to take it back
		{time.Second, 32 << 20, 100}, // but it is of bytes, however much lives
		{time.Second / 10, 512 << 20, tightly},
		{3 * time.Second, 16 << 20, tightly},
	} {
		time.Sleep(step.after)
		if got := c.collected(time.Now(), step.live); got != step.want {
			t.Errorf("after %v with %d MiB alive: %d percent, want %d", step.after, step.live>>20, got, step.want)
		}
	}
	time.Sleep(time.Minute)
	if n := calmed.Load(); n != 2 {
		t.Errorf("collected %d times because it was calm, want once at the beginning and once behind what was busy", n)
	}
}
