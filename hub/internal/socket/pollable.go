package socket

import (
	"bufio"
	"net"
	"net/http"
)

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
