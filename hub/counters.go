package hub

import (
	"sync"
	"sync/atomic"
)

// counters are the counts of a hub that only increase.
type counters struct {
	delivered, repairs, resumes, byPeer, lost atomic.Uint64

	mu     sync.Mutex
	closes map[int]uint64 // connections by close code; guarded by mu
}

// closed counts a connection that has ended. code is the code of the close frame that the server sent; 0: it sent none.
// byPeer means that the client sent its close frame first.
func (n *counters) closed(code int, byPeer bool) {
	switch {
	case byPeer:
		n.byPeer.Add(1)
	case code == 0:
		n.lost.Add(1)
	default:
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.closes == nil {
			n.closes = map[int]uint64{}
		}
		n.closes[code]++
	}
}
