package socket

import (
	"net"

	"github.com/gorilla/websocket"

	"hongbao/hub/internal/poll"
	"hongbao/hub/internal/wheel"
)

// NewGroup returns a group without sockets. The caller must run the poller, and call Tick after each tick of the
// wheels.
func NewGroup(o Options, wheels *wheel.Wheels, poller poll.Poller) *Group {
	g := &Group{options: o, wheels: wheels, poller: poller, startReader: func(s *Socket) { reader{s}.StartReader() }}
	for _, e := range []Encoding{JSON, Protobuf} {
		g.pings[e] = EncodeFrame(e, o.Ping(e))
	}
	return g
}

// Open makes s the connection of an upgraded WebSocket. Frames may be queued from now on. Reading begins with Start.
func (g *Group) Open(s *Socket, ws *websocket.Conn, e Encoding, owner Owner) {
	s.group, s.owner, s.ws, s.encoding = g, owner, ws, e
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
