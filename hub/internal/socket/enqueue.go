package socket

import "math/rand/v2"

// deferredShare is the divisor for deferred frames: they wait only while they fill less than 1/16 of the queue's bound.
const deferredShare = 16

// Deliver queues a push. If it returns true, the caller must call Flush soon, directly or through a Round.
func (s *Socket) Deliver(f Frame) (flush bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enqueueLocked(f)
}

// Reply queues a message for this client alone. Replies are never dropped and never make the client count as slow;
// callers limit them by waiting for Behind. If it returns true, the caller must call Flush soon.
func (s *Socket) Reply(message []byte) (flush bool) {
	return s.Deliver(Frame{Bytes: EncodeFrame(s.encoding, message), reply: true})
}

// enqueueLocked queues a frame. If it returns true, the caller must call Flush after it unlocks.
func (s *Socket) enqueueLocked(f Frame) (flush bool) {
	if s.closing || !f.reply && !s.admitLocked(f) {
		return false
	}
	if s.holding && !isControl(f.Bytes) {
		s.queue.push(&s.queue.held, f)
		return false
	}
	s.queue.push(&s.queue.ready, f)
	if f.Deferred && s.queue.pushes.Load() <= int64(s.group.options.QueueBytes)/deferredShare {
		s.deferLocked()
		return false
	}
	return s.mustFlushLocked()
}

// admitLocked reports whether a push may be queued. If the client is too slow, it closes the connection and returns
// false.
func (s *Socket) admitLocked(f Frame) bool {
	ok, shed := s.queue.admit(f, int64(s.group.options.QueueBytes))
	if shed > 0 {
		s.group.Shed.Add(uint64(shed))
	}
	if !ok && !f.Shed {
		s.group.Slow.Add(1)
		s.queue.drop(&s.queue.ready)
		s.closeLocked(CloseSlow, "too slow")
	}
	return ok
}

// deferLocked schedules a flush for the next tick. An earlier write takes the deferred frames along.
func (s *Socket) deferLocked() {
	if s.deferred || s.flushing {
		return
	}
	s.deferred = true
	s.group.mu.Lock()
	defer s.group.mu.Unlock()
	s.group.deferred = append(s.group.deferred, s)
}

// Hold delays all frames queued from now on, until Release is called.
func (s *Socket) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = true
}

// Release queues first (if not nil), then all frames that Hold has delayed. The socket pings the client from then on.
func (s *Socket) Release(first []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = false
	if first != nil && s.enqueueLocked(Frame{Bytes: EncodeFrame(s.encoding, first), reply: true}) {
		go s.flush()
	}
	if s.closing {
		return
	}
	if s.queue.release() {
		s.startFlusherLocked()
	}
	if s.pingAt == 0 {
		s.pingAt = s.group.wheels.After(rand.N(s.group.options.PingEvery)) // random, so that clients are not all pinged together
		s.rearmLocked()
	}
}
