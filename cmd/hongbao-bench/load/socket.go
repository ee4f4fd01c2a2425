package load

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// socket is one connection of a client. It reads all messages at a low cost: with one goroutine, and with one read for many
// messages.
type socket struct {
	conn     net.Conn
	writable atomic.Int64 // end of the write deadline, in Unix seconds

	buffer []byte // bytes read; used by the reading goroutine only
	unread int    // bytes at the front of buffer that are a part of a frame
}

const (
	dialPatience  = 20 * time.Second
	writePatience = 10 * time.Second
	readAhead     = 2 << 10 // bytes; a longer frame makes the buffer grow
)

// frames holds buffers of outgoing frames.
var frames = sync.Pool{New: func() any { return new(frame) }}

// dial opens a socket at an instance. The server sends nothing before the first command, so the dialer cannot have read a
// message.
func dial(ctx context.Context, url string) (*socket, error) {
	d := websocket.Dialer{ReadBufferSize: 512, WriteBufferSize: 512, HandshakeTimeout: dialPatience}
	ws, response, err := d.DialContext(ctx, url, nil)
	if response != nil {
		_ = response.Body.Close()
	}
	if err != nil && response != nil && response.StatusCode == http.StatusServiceUnavailable {
		return nil, errRefused
	}
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	return &socket{conn: ws.NetConn(), buffer: make([]byte, readAhead)}, nil
}

// send writes the text that text appends as one frame.
func (s *socket) send(text func(b []byte) []byte) error {
	f := frames.Get().(*frame)
	defer frames.Put(f)
	return s.write(f.fill(opText, text))
}

// pong answers a ping of the protocol.
func (s *socket) pong() error {
	return s.send(func(b []byte) []byte { return append(b, "{}"...) })
}

// write writes a whole frame. It moves the write deadline only after half of the time has passed: moving it costs as
// much as reading an answer.
func (s *socket) write(frame []byte) error {
	now := time.Now()
	if now.Add(writePatience/2).Unix() > s.writable.Load() {
		deadline := now.Add(writePatience)
		s.writable.Store(deadline.Unix())
		_ = s.conn.SetWriteDeadline(deadline)
	}
	_, err := s.conn.Write(frame)
	return err
}

// receive waits for data, and calls show with each complete message and its time of arrival. A message is valid during
// the call only.
func (s *socket) receive(show func(text []byte, now time.Time) error) error {
	n, err := s.conn.Read(s.buffer[s.unread:])
	if err != nil {
		return err
	}
	now := time.Now()
	rest := s.buffer[:s.unread+n]
	for {
		op, content, size, err := readFrame(rest)
		if err != nil {
			return err
		}
		if size > len(rest) || size == 0 {
			break
		}
		rest = rest[size:]
		if err := s.take(op, content, func(text []byte) error { return show(text, now) }); err != nil {
			return err
		}
	}
	s.unread = copy(s.buffer, rest)
	if s.unread == len(s.buffer) {
		s.buffer = append(s.buffer, make([]byte, len(s.buffer))...)
	}
	return nil
}

// take handles one frame of the server: it calls show with each line of a text frame, and answers a ping.
func (s *socket) take(op opcode, content []byte, show func(text []byte) error) error {
	switch op {
	case opText:
		for len(content) > 0 {
			var text []byte
			text, content, _ = bytes.Cut(content, []byte("\n"))
			if err := show(text); err != nil {
				return err
			}
		}
		return nil
	case opPing:
		f := frames.Get().(*frame)
		defer frames.Put(f)
		return s.write(f.fill(opPong, func(b []byte) []byte { return append(b, content...) }))
	case opPong:
		return nil
	case opClose:
		return fmt.Errorf("closed by the server: %.100q", content)
	}
	return fmt.Errorf("unexpected frame of kind %d", op)
}

// close closes the connection without a close frame, as a broken connection ends.
func (s *socket) close() { _ = s.conn.Close() }
