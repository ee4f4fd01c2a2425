package socket

// deferredTicks is the largest number of ticks that a deferred frame waits for a reply that the client expects.
const deferredTicks = 4

// Tick flushes the sockets that were pinged at this tick, and those whose deferred frames have waited long enough. A
// deferred frame often leaves in one write with a reply or a message. Each write that this saves is the largest part of
// the cost of a push, for server and client. One goroutine calls Tick, after it has advanced the wheels.
func (g *Group) Tick() {
	g.pinged.Start()
	g.pinged = nil

	g.mu.Lock()
	sockets := g.deferred
	g.deferred = nil
	g.mu.Unlock()
	var round *Round
	waiting := sockets[:0]
	for _, s := range sockets {
		switch wait, flush := s.endDeferral(!s.owner.Idle()); {
		case wait:
			waiting = append(waiting, s)
		case flush:
			round = round.Join(s)
		}
	}
	round.Start()
	g.mu.Lock()
	g.deferred = append(g.deferred, waiting...)
	g.mu.Unlock()
}

// endDeferral decides, once per tick, about the deferred frames of a socket. busy means that the client expects a
// reply. wait means that the frames wait for another tick. flush means that the caller must call Flush.
func (s *Socket) endDeferral(busy bool) (wait, flush bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ticks++
	if busy && s.ticks < deferredTicks {
		return true, false
	}
	s.deferred, s.ticks = false, 0
	return false, s.mustFlushLocked()
}
