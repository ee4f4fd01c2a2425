package hub

import (
	"cmp"
	"slices"
	"time"
)

const (
	// gapWait is how long a missing message may still be on its way: the publishes of two committers may cross.
	gapWait = 100 * time.Millisecond
	// maxRetry bounds the wait between two attempts to repair.
	maxRetry = 5 * time.Second
	// maxWaiting bounds what waits behind a gap; what does not fit is fetched later.
	maxWaiting = 1024
)

// gap is what a topic knows of while something before it is missing.
type gap struct {
	top     int64        // the highest seq known to exist
	waiting []Message    // ascending, all after topic.last
	signals []heldSignal // ascending by after
	due     int64        // tick at which to repair, unless the topic moves before
	tries   int          // in a row without success
}

// heldSignal is a signal that came while messages published before it were missing.
type heldSignal struct {
	after int64
	data  []byte
}

// patience is how long a topic waits for what is missing: not at all while the bus is down, for nothing will come.
func (h *Hub) patience() time.Duration {
	if h.down.Load() {
		return 0
	}
	return gapWait
}

// missing notes that messages up to top exist.
func (t *topic) missing(top int64) {
	if t.gap == nil {
		t.gap = &gap{due: t.hub.wheels.after(t.hub.patience())}
		t.wakeBy(t.gap.due)
	}
	t.gap.top = max(t.gap.top, top)
}

// keep puts a message into its place in the waiting line.
func (g *gap) keep(m Message) {
	i, found := slices.BinarySearchFunc(g.waiting, m.Seq, func(w Message, seq int64) int {
		return cmp.Compare(w.Seq, seq)
	})
	if found || i == maxWaiting {
		return
	}
	if len(g.waiting) == maxWaiting {
		g.waiting = g.waiting[:maxWaiting-1]
	}
	g.waiting = slices.Insert(g.waiting, i, m)
}

// hold makes a signal wait for all that is known; false: too many wait already.
func (g *gap) hold(data []byte) bool {
	if len(g.signals) == maxWaiting {
		return false
	}
	g.signals = append(g.signals, heldSignal{after: g.top, data: data})
	return true
}

// advance delivers what has become due after topic.last has moved, and returns the signals that have waited for it.
func (t *topic) advance() []heldSignal {
	g := t.gap
	if g == nil {
		return nil
	}
	n := 0
	for ; n < len(g.waiting) && g.waiting[n].Seq <= t.last+1; n++ {
		if g.waiting[n].Seq == t.last+1 {
			t.deliver(g.waiting[n])
			t.step()
		}
	}
	g.waiting = slices.Delete(g.waiting, 0, n)
	if g.top <= t.last {
		t.gap = nil
		return g.signals
	}
	g.tries = 0
	g.due = t.hub.wheels.after(t.hub.patience())
	ready := 0
	for ready < len(g.signals) && g.signals[ready].after <= t.last {
		ready++
	}
	signals := g.signals[:ready:ready]
	g.signals = g.signals[ready:]
	return signals
}

// retryLater puts the next repair off, the longer the more have failed in a row.
func (t *topic) retryLater() {
	g := t.gap
	g.due = t.hub.wheels.after(min(gapWait<<min(g.tries, 10), maxRetry))
	g.tries++
	t.wakeBy(g.due)
}

// wakeBy arms the topic's timer, unless it fires earlier anyway.
func (t *topic) wakeBy(tick int64) {
	if t.wake == 0 || tick < t.wake {
		t.wake = tick
		t.timer.arm(tick)
	}
}

// fire hands the topic to the repairers or the comparer when its time has come.
func (t *topic) fire(now int64, next *round) *round {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead.Load() {
		return next
	}
	t.wake = 0
	t.forgetRecent(now)
	if g := t.gap; g != nil && !t.repairing {
		if now < g.due {
			t.wakeBy(g.due)
		} else {
			t.repairing = true
			t.hub.repairs.add(t)
		}
	}
	if t.checks > 0 {
		if now >= t.checkAt {
			t.checks--
			t.checkAt = t.hub.wheels.after(recheckAfter)
			t.hub.suspects.add(t)
		}
		if t.checks > 0 {
			t.wakeBy(t.checkAt)
		}
	}
	return next
}
