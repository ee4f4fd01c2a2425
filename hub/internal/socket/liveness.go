package socket

import (
	"time"

	"hongbao/hub/internal/wheel"
)

// messageWithin is how long the frames of one message may take to arrive. It is checked only when the socket's timer
// fires.
const messageWithin = 30 * time.Second

// CloseAt schedules Close for the time t. A later call replaces the schedule; the zero time cancels it.
func (s *Socket) CloseAt(t time.Time, code int, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeAt, s.closeCode, s.closeReason = 0, uint16(code), reason
	if !t.IsZero() {
		s.closeAt = max(1, s.group.wheels.At(t))
	}
	s.rearmLocked()
}

// Fire implements wheel.Owner. It does what is due: close the connection, close it for a missing pong, or send a ping.
func (s *Socket) Fire(now wheel.Tick) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closeAt != 0 && now >= s.closeAt {
		s.closeLocked(int(s.closeCode), s.closeReason)
	}
	if s.pongBy != 0 && now >= s.pongBy {
		s.pongBy = 0
		// While the reader handles a message it reads nothing, so silence does not mean that the peer is gone.
		if !s.busy.Load() && !s.heard.Load() {
			s.closeLocked(CloseNoPong, "no pong")
		}
	}
	// WebSocket pings in the middle of a message prove that the peer is alive, but not that the message will ever be
	// complete. Without this limit, the message would occupy its buffer for ever.
	if started := s.started.Load(); started != 0 && now-wheel.Tick(started) > wheel.Tick(messageWithin/wheel.Interval) {
		s.closeLocked(CloseNoPong, "no pong")
	}
	if s.pingAt != 0 && now >= s.pingAt && !s.closing {
		s.heard.Store(false)
		if s.enqueueLocked(Frame{Bytes: s.group.pings[s.encoding]}) {
			s.group.pinged = s.group.pinged.Join(s)
		}
		s.pingAt = s.group.wheels.After(s.group.options.PingEvery)
		s.pongBy = s.group.wheels.After(s.group.options.PongWithin)
	}
	s.rearmLocked()
}
