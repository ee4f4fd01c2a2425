package hub

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Stats are the hub's figures of this moment and, marked "so far", since New.
type Stats struct {
	Connections  int
	Topics       int
	QueuedBytes  int64          // waiting for sockets
	Delivered    uint64         // messages queued to connections, so far
	Shed         uint64         // unsequenced messages dropped for slow connections, so far
	Slow         uint64         // connections that did not take their messages, so far
	GapRepairs   uint64         // pages fetched because messages were missing, so far
	Resumes      uint64         // topics read for those who come back, so far
	Closes       map[int]uint64 // by the code of our close frame, so far
	ClosedByPeer uint64         // the peer sent its close frame first, so far
	Lost         uint64         // ended without a close frame, so far
	BusDown      bool           // the other instances are not heard: the store is asked instead
}

// counters are the figures that only grow.
type counters struct {
	delivered, shed, slow, repairs, resumes, byPeer, lost atomic.Uint64

	mu     sync.Mutex
	closes map[int]uint64
}

// close counts the end of a connection; code 0: not closed by us.
func (n *counters) close(code int, byPeer bool) {
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

// Stats reads the figures. It looks at every connection: meant for a metrics scrape.
func (h *Hub) Stats() Stats {
	s := Stats{
		Delivered:    h.counts.delivered.Load(),
		Shed:         h.counts.shed.Load(),
		Slow:         h.counts.slow.Load(),
		GapRepairs:   h.counts.repairs.Load(),
		Resumes:      h.counts.resumes.Load(),
		ClosedByPeer: h.counts.byPeer.Load(),
		Lost:         h.counts.lost.Load(),
		BusDown:      h.down.Load(),
	}
	h.counts.mu.Lock()
	s.Closes = maps.Clone(h.counts.closes)
	h.counts.mu.Unlock()
	for i := range h.shards {
		shard := &h.shards[i]
		shard.mu.RLock()
		s.Topics += len(shard.topics)
		shard.mu.RUnlock()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Connections = len(h.conns)
	for c := range h.conns {
		s.QueuedBytes += c.queued.Load() + c.owed.Load()
	}
	return s
}

// Connections is how many sockets this instance has.
func (h *Hub) Connections() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.conns)
}
