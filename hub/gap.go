package hub

import (
	"cmp"
	"slices"
	"time"

	"hongbao/hub/internal/wheel"
)

const (
	// gapWait is how long a topic waits for a missing message before it reads it from the store. Concurrent publishers
	// may cause messages to arrive out of order.
	gapWait = 100 * time.Millisecond
	// maxRetry is the longest wait between two failed reads from the store.
	maxRetry = 5 * time.Second
	// maxWaiting bounds the messages that wait behind a gap, and likewise the signals. Messages over the bound are
	// dropped, and later read from the store.
	maxWaiting = 1024
)

// gap is the state of a topic while sequenced messages are missing.
type gap struct {
	top     int64        // the highest seq known to exist
	waiting []Message    // messages that arrived too early, ascending, all after topic.last
	signals []heldSignal // ascending by after
	due     wheel.Tick   // when to read from the store, unless messages arrive before
	tries   int          // failed fetches in a row
}

// heldSignal is a signal that waits for missing messages, because they were published before the signal.
type heldSignal struct {
	after int64
	data  []byte
}

// keep adds a message that arrived before an earlier one. It does nothing if the message is present or there are
// maxWaiting earlier ones.
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

// hold makes a signal wait for all messages that are known to exist. It returns false, and does not keep the signal, if
// maxWaiting signals wait already.
func (g *gap) hold(data []byte) bool {
	if len(g.signals) == maxWaiting {
		return false
	}
	g.signals = append(g.signals, heldSignal{after: g.top, data: data})
	return true
}

// release removes and returns the signals that need no message after seq last.
func (g *gap) release(last int64) []heldSignal {
	n := 0
	for n < len(g.signals) && g.signals[n].after <= last {
		n++
	}
	signals := g.signals[:n:n]
	g.signals = g.signals[n:]
	return signals
}

// backoff returns the wait before the next read from the store. The wait doubles with each failure in a row, up to
// maxRetry.
func (g *gap) backoff() time.Duration {
	wait := min(gapWait<<min(g.tries, 10), maxRetry)
	g.tries++
	return wait
}
