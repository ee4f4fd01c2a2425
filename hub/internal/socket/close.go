package socket

import "time"

// Close codes that a socket chooses itself.
const (
	CloseSlow     = 3008 // the client did not read its messages fast enough
	CloseNoPong   = 3012 // the client did not answer a ping
	CloseProtocol = 3501 // the client sent a text message that is not UTF-8
)

// closeTimeout is how long the socket waits for the peer's reply to a close frame.
const closeTimeout = 3 * time.Second

// Close sends the queued frames and then a close frame, and closes the socket. Further calls do nothing.
func (s *Socket) Close(code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeLocked(code, reason)
}

func (s *Socket) closeLocked(code int, reason string) {
	if s.closing {
		return
	}
	s.code = uint16(code)
	s.closeWithLocked(encodeClose(code, reason))
}

// closeWithLocked queues a close frame after the frames that are ready. It drops the frames that Hold has delayed,
// because the client must not receive them before Release.
func (s *Socket) closeWithLocked(frame []byte) {
	s.stopLocked()
	s.queue.drop(&s.queue.held)
	s.queue.push(&s.queue.ready, Frame{Bytes: frame})
	s.startFlusherLocked()
}

// stopLocked makes the socket refuse further frames and wakes the callers of Behind. If the socket is parked, it starts
// a reader goroutine, which reads the peer's close frame or the end of the stream.
func (s *Socket) stopLocked() {
	s.closing = true
	if s.parked {
		s.parked = false
		s.group.startReader(s)
	}
	s.wakeBehindLocked()
}

// closeByPeer drops every queued frame and replies to the peer's close frame with the same code. It does nothing if the
// socket is already closing.
func (s *Socket) closeByPeer(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.byPeer = true
		s.queue.drop(&s.queue.ready)
		s.closeWithLocked(encodeClose(code, ""))
	}
}

// silence drops every queued frame and lets nothing more be queued. It is for violations of the protocol, where gorilla
// has already sent a close frame with the given code.
func (s *Socket) silence(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.code = uint16(code)
	}
	s.stopLocked()
	s.queue.drop(&s.queue.ready)
	s.queue.drop(&s.queue.held)
}

// Abort closes the socket at once, without a close frame. The reader and the flusher then end.
func (s *Socket) Abort() {
	s.mu.Lock()
	s.stopLocked()
	s.queue.drop(&s.queue.ready)
	s.queue.drop(&s.queue.held)
	s.mu.Unlock()
	s.ws.Close()
}

// finish closes the socket and reports its end to the owner. Of reader and flusher, the one that ends later calls it.
func (s *Socket) finish() {
	s.ws.Close()
	s.owner.Gone(int(s.code), s.byPeer)
}
