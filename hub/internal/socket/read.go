package socket

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

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

// TryHandle implements poll.Conn. It handles one whole message at once, if the client has read its replies. Anything
// else might block: it returns the work for a reader goroutine, which begins with the same bytes.
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
	case errors.Is(err, websocket.ErrReadLimit):
		// The frame's header announces a length over the limit for messages.
		r.Close(websocket.CloseMessageTooBig, "too big")
		r.linger()
	case closed != nil, errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
		r.Abort()
	default:
		// A violation of RFC 6455, for which gorilla has sent its own close frame.
		r.silence(websocket.CloseProtocolError)
		r.linger()
	}
}

// linger reads and discards data for a moment before the socket is closed. Closing a socket with unread data resets the
// TCP connection, and the peer might not receive our close frame.
func (r reader) linger() {
	conn := r.ws.NetConn()
	conn.SetReadDeadline(time.Now().Add(closeTimeout))
	_, _ = io.Copy(io.Discard, conn)
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.enqueueLocked(Frame{Bytes: encodeControl(opPong, []byte(data))}) {
		go r.flush()
	}
	return nil
}

func (r reader) ponged(string) error {
	r.heard.Store(true)
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
