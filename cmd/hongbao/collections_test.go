package main

import (
	"testing"
	"time"
)

// TestCollections: room for garbage is given while collections come fast, and taken back when they do not.
func TestCollections(t *testing.T) {
	now := time.Now()
	c := collections{last: now}
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
		now = now.Add(step.after)
		if got := c.collected(now, step.live); got != step.want {
			t.Errorf("after %v with %d MiB alive: %d percent, want %d", step.after, step.live>>20, got, step.want)
		}
	}
}
