package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	tightly = 50       // percent of garbage beside what lives
	elbow   = 32 << 20 // bytes of garbage at least, while much happens
	often   = time.Second / 5
	seldom  = 2 * time.Second
)

// collections paces the garbage collector. What a server holds is mostly idle sockets, and collected twice as often as
// usual, handshakes leave less of a mess between them: a tenth of their memory. But a small server under load would
// collect dozens of times a second, a quarter of its work; so while collections come that fast, garbage has more room. When
// it is over there is one more, or what was needed then would be kept for as long as next to nothing happens.
type collections struct {
	last time.Time
	busy bool
	calm *time.Timer // runs when no collection has come for a while
}

// paceCollections does so until the process ends, unless the operator says how often to collect (GOGC).
func paceCollections() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(tightly)
	c := &collections{calm: time.AfterFunc(seldom, runtime.GC)}
	c.await(tightly)
}

// await has c look after the next collection, which finds this sentinel dead.
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

// collected notes a collection that left so much alive, and gives the percentage until the next.
func (c *collections) collected(now time.Time, live uint64) (percent int) {
	since := now.Sub(c.last)
	c.last = now
	c.busy = since < often || c.busy && since < seldom
	if !c.busy {
		return tightly
	}
	c.calm.Reset(seldom)
	return max(tightly, int(100*elbow/max(live, 1<<20)))
}
