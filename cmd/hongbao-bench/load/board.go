package load

import (
	"maps"
	"sync"
	"sync/atomic"
)

// board is what all users note together.
type board struct {
	come      *series // from the time when a user was to come to the answer that he is in
	back      *series // from the loss of a connection, or the start of a storm, to the same
	sent      *series // messages, until acknowledged
	delivered *series // messages, until one of those in the room has them
	won       *series // grabs
	sorry     *series // grabs that bring nothing: all other outcomes

	connected atomic.Int64
	lost      atomic.Int64 // connections that nobody here has cut
	resent    atomic.Int64 // commands that were said again, because nobody knew what had become of them

	mu     sync.Mutex
	errors map[string]int64 // guarded by mu: by word
}

func newBoard() *board {
	return &board{
		come: newSeries("connect"), back: newSeries("reconnect"), sent: newSeries("send acknowledged"),
		delivered: newSeries(Delivered), won: newSeries(Won), sorry: newSeries("grab, nothing left"),
		errors: map[string]int64{},
	}
}

func (b *board) series() []*series {
	return []*series{b.come, b.back, b.sent, b.delivered, b.won, b.sorry}
}

// begin forgets what was before the window.
func (b *board) begin() {
	for _, s := range b.series() {
		s.clear()
	}
}

// failed notes an error by its word.
func (b *board) failed(word string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors[word]++
}

// failures by word.
func (b *board) failures() (all map[string]int64, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.errors {
		total += n
	}
	return maps.Clone(b.errors), total
}
