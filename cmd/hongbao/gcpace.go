package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	idlePercent = 50       // garbage that may pile up, in percent of live memory, while little happens
	busyGarbage = 32 << 20 // least garbage that may pile up, in bytes, while much happens
	busyGap     = time.Second / 5
	idleGap     = 2 * time.Second
)

// collections sets how often the garbage collector runs. Most memory of a server belongs to idle sockets. Collecting
// twice as often as Go's default saves a tenth of that memory, because handshakes leave fewer holes between sockets.
// But then a small server under load would collect dozens of times a second, for a quarter of its CPU time. So while
// collections are less than busyGap apart, more garbage is allowed. After a busy time, one more collection frees the
// memory that was needed only then.
type collections struct {
	last time.Time
	busy bool
	calm *time.Timer // collects once more when no collection has come for idleGap after the start or after a busy time
}

// paceCollections paces the collector until the process ends, unless the operator has set GOGC.
func paceCollections() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(idlePercent)
	c := &collections{calm: time.AfterFunc(idleGap, runtime.GC)}
	c.await(idlePercent)
}

// await calls collected after the next collection. It notices that collection by an object that nothing refers to: the
// collector runs the cleanup of the object.
func (c *collections) await(percent int) {
	runtime.AddCleanup(new([16]byte), func(c *collections) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		next := c.collected(time.Now(), live[0].Value.Uint64())
		if next != percent {
			debug.SetGCPercent(next)
		}
		c.await(next)
	}, c)
}

// collected is called after each collection with the bytes that are still in use. It returns the percentage of garbage
// that starts the next collection.
func (c *collections) collected(now time.Time, live uint64) (percent int) {
	since := now.Sub(c.last)
	c.last = now
	c.busy = since < busyGap || c.busy && since < idleGap
	if !c.busy {
		return idlePercent
	}
	c.calm.Reset(idleGap)
	return max(idlePercent, int(100*busyGarbage/max(live, 1<<20)))
}
