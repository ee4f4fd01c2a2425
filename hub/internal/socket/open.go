package socket

import (
	"net"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub/internal/poll"
	"hongbao/hub/internal/wheel"
)

// NewGroup returns a group without sockets. The caller must run the poller, and call Tick after each tick of the
// wheels.
func NewGroup(o Options, wheels *wheel.Wheels, poller poll.Poller) *Group {
	g := &Group{options: o, wheels: wheels, poller: poller, closeTimeout: closeTimeout, startReader: func(s *Socket) { reader{s}.StartReader() }}
	for _, e := range []Encoding{JSON, Protobuf} {
		g.pings[e] = EncodeFrame(e, o.Ping(e))
	}
	return g
}

// Open makes s the connection of an upgraded WebSocket. Frames may be queued from now on. Reading begins with Start.
func (g *Group) Open(s *Socket, ws *websocket.Conn, e Encoding, owner Owner) {
	s.group, s.owner, s.ws, s.encoding = g, owner, ws, e
	s.queue.all = &g.replies
	s.flush = flusher{s}.run
	s.inspect(ws.NetConn())
	g.wheels.Assign(&s.timer, s)
	ws.SetReadLimit(0) // the reader has a limit of its own, because the close frame must be written by the flusher
	ws.SetPingHandler(reader{s}.pinged)
	ws.SetPongHandler(reader{s}.ponged)
	ws.SetCloseHandler(reader{s}.peerClosed)
}

// inspect finds out whether the connection allows non-blocking writes, and whether a poller can watch it.
func (s *Socket) inspect(conn net.Conn) {
	p, wrapped := conn.(*pollable)
	if wrapped {
		conn = p.Conn
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	s.raw, _ = tcp.SyscallConn() // fails only for a nil connection
	if wrapped && s.raw.Control(func(fd uintptr) { s.fd = int32(fd) }) == nil {
		s.pollable = p
	}
}

// Start begins to read. From then on the socket calls the owner's methods.
func (s *Socket) Start() {
	if r := (reader{s}); !r.parkAndWatch() {
		r.StartReader()
	}
}

// Close codes that a socket chooses itself, besides 1009 for a message that is too big and 1002, which gorilla sends for a
// violation of RFC 6455.
const (
	CloseSlow     = 3008 // the client did not read its messages fast enough
	CloseNoPong   = 3012 // the client did not answer a ping, or began a message and did not complete it within messageWithin
	CloseProtocol = 3501 // the client sent a text message that is not UTF-8
)

// closeTimeout is how long the socket waits for the peer's reply to a close frame.
const closeTimeout = 3 * time.Second

// Close sends the queued frames and then a close frame, and closes the socket. Frames that Hold delays are dropped. Further
// calls do nothing.
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

// Abort closes the socket at once, without a close frame. The reader and the flusher then end.
func (s *Socket) Abort() {
	s.mu.Lock()
	s.stopLocked()
	s.queue.drop(&s.queue.ready)
	s.queue.drop(&s.queue.held)
	s.mu.Unlock()
	s.ws.Close()
}

// CloseCode returns what Owner.Gone is told, as far as it is known.
func (s *Socket) CloseCode() (code int, byPeer bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.code), s.byPeer
}

// finish closes the socket and reports its end to the owner. Of reader and flusher, the one that ends later calls it.
func (s *Socket) finish() {
	s.ws.Close()
	s.owner.Gone(int(s.code), s.byPeer)
}

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

// Fire implements wheel.Owner. It does what is due: the scheduled close, a close for a missing pong or an incomplete
// message, a ping.
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
