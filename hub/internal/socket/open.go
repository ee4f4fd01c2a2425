package socket

import (
	"bufio"
	"net"
	"net/http"

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

// pollable is a network connection that returns the bytes which a poller has read from its socket before it reads
// further ones.
type pollable struct {
	net.Conn
	received []byte        // bytes that a poller has read; owned by the goroutine that reads
	reader   *bufio.Reader // through which gorilla reads
}

// smallBuffer is the read buffer size of a pollable connection. The upgrader accepts no smaller one.
const smallBuffer = 288

// Pollable wraps the ResponseWriter that is passed to a WebSocket upgrade, so that a poller can watch the resulting
// socket.
func Pollable(w http.ResponseWriter) http.ResponseWriter { return pollableResponse{w} }

type pollableResponse struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (w pollableResponse) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil || buffers.Reader.Buffered() > 0 { // the upgrader rejects a client that has sent data before the upgrade
		return conn, buffers, err
	}
	p := &pollable{Conn: conn}
	p.reader = bufio.NewReaderSize(p, smallBuffer)
	buffers.Reader = p.reader
	return p, buffers, nil
}

// Read implements net.Conn.
func (p *pollable) Read(b []byte) (n int, err error) {
	if len(p.received) == 0 {
		p.received = nil
		return p.Conn.Read(b)
	}
	n = copy(b, p.received)
	p.received = p.received[n:]
	return n, nil
}

// drained reports whether gorilla has read all bytes that were received so far.
func (p *pollable) drained() bool { return len(p.received) == 0 && p.reader.Buffered() == 0 }
