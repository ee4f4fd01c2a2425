package socket

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
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

// run reads until the connection is parked or ends. It blocks on the client, and on the work that Owner.Frame returns.
func (r reader) run() {
	for {
		kind, message, err := r.ws.NextReader()
		flush, rest, err := r.handle(kind, message, err, true)
		if flush {
			r.Flush()
		}
		if rest != nil {
			r.finishMessage(rest)
		}
		if err != nil {
			r.failed(err)
			r.leave()
			return
		}
		if r.parkAndWatch() {
			return
		}
	}
}

// parkAndWatch parks the connection with the poller. If it returns false, the caller must continue to read.
func (r reader) parkAndWatch() bool {
	return r.pollable != nil && r.pollable.drained() && r.Park() && (r.group.poller.Watch(r) || !r.Claim())
}

// Park implements poll.Conn.
func (r reader) Park() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parked = !r.closing // a closing connection is read until the peer's close frame arrives or a deadline passes
	return r.parked
}

// Claim implements poll.Conn.
func (r reader) Claim() (parked bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	parked, r.parked = r.parked, false
	return parked
}

// Descriptor implements poll.Conn.
func (r reader) Descriptor() (raw syscall.RawConn, fd int) { return r.raw, int(r.fd) }

// StartReader implements poll.Conn.
func (r reader) StartReader() { go r.run() }

// TryHandle implements poll.Conn. It handles one whole message at once, if Behind returns nil. Anything else might block. Then
// TryHandle returns a function for a reader goroutine, which begins with the same bytes.
func (r reader) TryHandle(data []byte, complete bool) (flush bool, needsGoroutine func()) {
	r.pollable.received = data
	if complete && isWholeMessage(data) && r.Behind() == nil {
		kind, message, err := r.ws.NextReader()
		flush, rest, err := r.handle(kind, message, err, false)
		switch {
		case rest != nil:
			return flush, func() {
				r.finishMessage(rest)
				if !r.parkAndWatch() {
					r.run()
				}
			}
		case err == nil && r.pollable.drained() && r.Park():
			return flush, nil
		}
		r.pollable.received = bytes.Clone(r.pollable.received)
		return flush, r.run
	}
	r.pollable.received = bytes.Clone(data)
	return false, r.run
}

// failed ends the connection after a read error. The error decides with which close frame, if any.
func (r reader) failed(err error) {
	var closed *websocket.CloseError
	var network net.Error
	switch {
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		// The peer has sent a close frame, and our reply is queued already. If we had sent a close frame first, the
		// peer's frame needs no reply.
	case errors.Is(err, errControl):
		r.linger(lingerShort)
	case errors.Is(err, websocket.ErrReadLimit):
		// The lengths in the frame headers overflow an int64. Because of SetReadLimit(0), gorilla has no other limit.
		r.Close(websocket.CloseMessageTooBig, "too big")
		r.linger(lingerLong)
	case closed != nil, errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
		r.Abort()
	default:
		// A violation of RFC 6455, for which gorilla has sent its own close frame.
		r.silence(websocket.CloseProtocolError)
		r.linger(lingerLong)
	}
}

// lingerLong and lingerShort bound the bytes that linger reads, so that a client that goes on sending costs little.
// lingerShort is for a client that has sent too many control frames: with lingerLong, discarding the data of such clients was
// half of the work of a server under attack.
const (
	lingerLong  = 1 << 20
	lingerShort = 64 << 10
)

// linger reads and discards up to most bytes, for at most closeTimeout, before the socket is closed. Closing a socket with
// unread data resets the TCP connection, and the peer might not receive our close frame.
func (r reader) linger(most int64) {
	conn := r.ws.NetConn()
	conn.SetReadDeadline(time.Now().Add(r.group.closeTimeout))
	_, _ = io.CopyN(io.Discard, conn, most)
}

// leave ends the reading. When the flusher has ended, too, the connection is closed.
func (r reader) leave() {
	r.mu.Lock()
	r.stopLocked()
	r.timer.Disarm()
	r.mu.Unlock()
	if r.pollable != nil {
		r.group.poller.Forget(r)
	}
	r.owner.Left()

	r.mu.Lock()
	r.left = true
	last := !r.flushing
	r.mu.Unlock()
	if last {
		r.finish()
	}
}

// pinged replies to a WebSocket ping of the peer.
func (r reader) pinged(data string) error {
	r.heard.Store(true)
	if !r.owner.Control() {
		return errControl
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.enqueueLocked(Frame{Bytes: encodeControl(opPong, []byte(data))}) {
		go r.flush()
	}
	return nil
}

func (r reader) ponged(string) error {
	r.heard.Store(true)
	if !r.owner.Control() {
		return errControl
	}
	return nil
}

// peerClosed handles the peer's close frame.
func (r reader) peerClosed(code int, _ string) error {
	if code == websocket.CloseNoStatusReceived {
		code = 0
	}
	r.closeByPeer(code)
	return nil
}

var (
	errTooBig  = errors.New("message too big")
	errControl = errors.New("too many control frames") // Owner.Control has closed the socket
)

// reader is the reading side of a socket. Only one goroutine at a time reads: the connection's own or that of a poller, which has
// claimed the parked connection. A reader has no fields besides the socket.
type reader struct{ *Socket }

// handle reads the message that NextReader has returned, and passes it to the owner. If wait is true, it blocks between the two
// until Behind returns nil. flush and rest are the results of Owner.Frame. The error, if not nil, ends the reading.
func (r reader) handle(kind int, message io.Reader, err error, wait bool) (flush bool, rest func(), _ error) {
	r.heard.Store(true)
	if err != nil || r.Closing() { // after our own close frame, everything is discarded until the peer's close frame
		return false, nil, err
	}
	buffer := readBuffers.Get().(*[]byte)
	defer recycleBuffer(&readBuffers, buffer)
	r.started.Store(max(1, int64(r.group.wheels.Now())))
	data, err := readMessage((*buffer)[:0], message, r.group.options.FrameBytes)
	r.started.Store(0)
	*buffer = data[:0]
	switch {
	case errors.Is(err, errTooBig):
		r.Close(websocket.CloseMessageTooBig, "too big")
		return false, nil, nil
	case err != nil:
		return false, nil, err
	case kind != websocket.BinaryMessage && !utf8.Valid(data):
		r.Close(CloseProtocol, "protocol error")
		return false, nil, nil
	}
	r.busy.Store(true)
	if wait {
		for behind := r.Behind(); behind != nil; behind = r.Behind() {
			<-behind
		}
	}
	flush, rest = r.owner.Frame(kind == websocket.BinaryMessage, data)
	if rest == nil {
		r.handled()
	}
	return flush, rest, nil
}

// finishMessage runs the work that Owner.Frame has returned as rest. It blocks until the work is done.
func (r reader) finishMessage(rest func()) {
	rest()
	r.handled()
}

// handled marks the reader as able to read again, so that silence counts as a missing pong.
func (r reader) handled() {
	r.heard.Store(true)
	r.busy.Store(false)
}

// readMessage reads a whole message of at most limit bytes into b, which grows as needed.
func readMessage(b []byte, from io.Reader, limit int) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := from.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if len(b) > limit {
			return b, errTooBig
		}
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// closeByPeer drops every queued frame and replies to the peer's close frame with the same code. It does nothing if the
// socket is already closing.
func (r reader) closeByPeer(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closing {
		r.byPeer = true
		r.queue.drop(&r.queue.ready)
		r.closeWithLocked(encodeClose(code, ""))
	}
}

// silence drops every queued frame and lets nothing more be queued. It is for violations of the protocol, where gorilla
// has already sent a close frame with the given code.
func (r reader) silence(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closing {
		r.code = uint16(code)
	}
	r.stopLocked()
	r.queue.drop(&r.queue.ready)
	r.queue.drop(&r.queue.held)
}
