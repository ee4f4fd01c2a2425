package socket

import (
	"math/rand/v2"
	"sync/atomic"
)

// queue holds the frames that wait to be written to one connection. The lock of its Socket guards it. Only the byte
// counts may be read without that lock.
type queue struct {
	ready   *batch       // nil: empty
	held    *batch       // frames queued between Hold and Release; nil: empty
	pushes  atomic.Int64 // bytes of the pushes that are in the queue or being written
	replies atomic.Int64 // bytes of the replies that are in the queue or being written
}

// admit decides whether a push may be queued. If the push does not fit within the limit, a push that may be shed is
// dropped itself. Any other push first causes all sheddable frames in the queue to be dropped. ok is false if the push
// still does not fit. shed is the number of frames dropped. An empty queue accepts a frame of any size.
func (q *queue) admit(f Frame, limit int64) (ok bool, shed int) {
	size := int64(len(f.Bytes))
	if pushes := q.pushes.Load(); pushes == 0 || pushes+size <= limit {
		return true, 0
	}
	if f.Shed {
		return false, 1
	}
	shed = q.shed(&q.ready) + q.shed(&q.held)
	return q.pushes.Load()+size <= limit, shed
}

// shed drops all frames of a batch that are marked Shed, and returns how many.
func (q *queue) shed(from **batch) (count int) {
	b := *from
	if b == nil {
		return 0
	}
	kept := b.frames[:0]
	for _, f := range b.frames {
		if f.Shed {
			q.count(f, -1)
			count++
			continue
		}
		kept = append(kept, f)
	}
	clear(b.frames[len(kept):])
	b.frames = kept
	if len(kept) == 0 {
		q.drop(from)
	}
	return count
}

// push appends a frame to one of the queue's two batches, ready or held.
func (q *queue) push(to **batch, f Frame) {
	q.count(f, 1)
	if *to == nil {
		*to = batches.Get().(*batch)
	}
	(*to).frames = append((*to).frames, f)
}

// release moves the held frames behind the ready frames, and reports whether there were any.
func (q *queue) release() bool {
	switch {
	case q.held == nil:
		return false
	case q.ready == nil:
		q.ready = q.held
	default:
		q.ready.frames = append(q.ready.frames, q.held.frames...)
		q.held.recycle()
	}
	q.held = nil
	return true
}

// take removes and returns all ready frames, or nil if there are none. Their bytes count as queued until they are
// written.
func (q *queue) take() *batch {
	b := q.ready
	q.ready = nil
	return b
}

// drop empties one of the queue's two batches, ready or held.
func (q *queue) drop(from **batch) {
	b := *from
	if b == nil {
		return
	}
	for _, f := range b.frames {
		q.count(f, -1)
	}
	*from = nil
	b.recycle()
}

// count updates the byte counts for a frame that is added (sign 1) or removed (sign -1).
func (q *queue) count(f Frame, sign int64) {
	if f.reply {
		q.replies.Add(sign * int64(len(f.Bytes)))
		return
	}
	q.pushes.Add(sign * int64(len(f.Bytes)))
}

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
