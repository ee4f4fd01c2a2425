package load

import (
	"maps"
	"sync"
	"sync/atomic"
)

// runStats holds the figures that all users share.
type runStats struct {
	connects   *series // from the time at which a user's first connect was due to its reply
	reconnects *series // from the loss of a connection, or the start of a storm, to the connect reply
	sent       *series // messages: from due to acknowledged
	delivered  *series // messages: from due to received, once for each member that receives it as a push
	won        *series // grabs that were answered with a share: from due to answered
	notWon     *series // grabs with any other outcome: from due to answered

	connected atomic.Int64
	lost      atomic.Int64 // connections that broke although this program did not close them
	resent    atomic.Int64 // how often commands were sent again, after a lost connection or a temporary error

	mu     sync.Mutex
	errors map[string]int64 // guarded by mu: by word
}

func newRunStats() *runStats {
	return &runStats{
		connects: newSeries("connect"), reconnects: newSeries("reconnect"), sent: newSeries("send acknowledged"),
		delivered: newSeries(Delivered), won: newSeries(Won), notWon: newSeries("grab, not won"),
		errors: map[string]int64{},
	}
}

func (b *runStats) series() []*series {
	return []*series{b.connects, b.reconnects, b.sent, b.delivered, b.won, b.notWon}
}

// begin drops the latencies from before the window. The counts of errors, lost connections and commands sent again go on.
func (b *runStats) begin() {
	for _, s := range b.series() {
		s.clear()
	}
}

// failed counts an error by its word.
func (b *runStats) failed(word string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors[word]++
}

// failures returns the errors by word.
func (b *runStats) failures() map[string]int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.errors)
}
