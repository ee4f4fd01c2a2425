package socket

import (
	"errors"
	"io"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

var errTooBig = errors.New("message too big")

// reader is the reading side of a socket. Only one goroutine at a time reads: the connection's own or, while the
// connection is parked, that of a poller. A reader has no fields besides the socket.
type reader struct{ *Socket }

// handle passes the message that NextReader has returned to the owner. If wait is true, it first blocks until the
// client has read its replies (Behind). flush and rest are the results of Owner.Frame. The error, if not nil, ends the
// reading.
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
