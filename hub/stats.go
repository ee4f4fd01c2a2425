package hub

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Stats holds figures of a hub. Figures marked "so far" count since New; the others are current values.
type Stats struct {
	Connections  int
	Topics       int
	QueuedBytes  int64          // bytes that wait to be sent to clients, also outside of sockets (CountReplies)
	Delivered    uint64         // messages queued for subscribers, each counted once for each subscriber, so far
	Shed         uint64         // pushes without Seq dropped for slow clients, so far
	Slow         uint64         // connections closed because their clients were slow, so far
	GapRepairs   uint64         // pages fetched from the store that had missing messages, so far
	Resumes      uint64         // topics read from the store for clients that reconnected, so far
	Closes       map[int]uint64 // connections ended, by the code of the close frame that the server sent, so far
	ClosedByPeer uint64         // connections whose client sent its close frame first, so far
	Lost         uint64         // connections that ended without a close frame, so far
	Forged       uint64         // payloads on the bus that no instance has sent, so far
	BusDown      bool           // messages of other instances may be missing, so the hub reads the store
}

// Stats returns the hub's figures. It visits every connection, so it is meant for a metrics scrape.
func (h *Hub) Stats() Stats {
	s := Stats{
		Topics:       len(h.topics.all()),
		Delivered:    h.counts.delivered.Load(),
		Shed:         h.conns.sockets.Shed.Load(),
		Slow:         h.conns.sockets.Slow.Load(),
		GapRepairs:   h.counts.repairs.Load(),
		Resumes:      h.counts.resumes.Load(),
		ClosedByPeer: h.counts.byPeer.Load(),
		Lost:         h.counts.lost.Load(),
		Forged:       h.counts.forged.Load(),
		BusDown:      h.env.busDown.Load(),
	}
	h.counts.mu.Lock()
	s.Closes = maps.Clone(h.counts.closes)
	h.counts.mu.Unlock()
	conns := h.conns.List()
	s.Connections, s.QueuedBytes = len(conns), h.conns.sockets.Elsewhere.Load()
	for _, c := range conns {
		s.QueuedBytes += c.socket.QueuedBytes()
	}
	return s
}

// counters are the counts of a hub that only increase.
type counters struct {
	delivered, repairs, resumes, byPeer, lost, forged atomic.Uint64

	forgedLogged atomic.Int64 // when a forged payload was last logged, in Unix nanoseconds

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
