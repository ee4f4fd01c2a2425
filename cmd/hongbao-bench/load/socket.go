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

// socket is one connection. It costs as little as a client can that still reads everything: no goroutine but its reader's,
// a read and a write for what comes and goes together, and nothing around the bytes themselves.
type socket struct {
	conn     net.Conn
	writable atomic.Int64 // until when a write may take, in Unix seconds

	buffer []byte // of the reader's goroutine
	unread int    // bytes at the front of buffer: a part of a frame
}

const (
	dialPatience  = 20 * time.Second
	writePatience = 10 * time.Second
	readAhead     = 2 << 10 // bytes; where a frame is longer the buffer grows
)

// frames are buffers of what is written.
var frames = sync.Pool{New: func() any { return new(frame) }}

// dial opens a socket at an instance. The server speaks when it is spoken to, so nothing has come yet that the dialer
// could have read.
func dial(ctx context.Context, url string) (*socket, error) {
	d := websocket.Dialer{ReadBufferSize: 512, WriteBufferSize: 512, HandshakeTimeout: dialPatience}
	ws, response, err := d.DialContext(ctx, url, nil)
	if response != nil {
		_ = response.Body.Close()
	}
	if err != nil && response != nil && response.StatusCode == http.StatusServiceUnavailable {
		return nil, errSentAway
	}
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	return &socket{conn: ws.NetConn(), buffer: make([]byte, readAhead)}, nil
}

// send writes what text appends, as one frame.
func (s *socket) send(text func(b []byte) []byte) error {
	f := frames.Get().(*frame)
	defer frames.Put(f)
	return s.write(f.fill(opText, text))
}

// pong answers the ping that every connection of the protocol has from time to time.
func (s *socket) pong() error {
	return s.send(func(b []byte) []byte { return append(b, "{}"...) })
}

// write writes a whole frame. The deadline is only moved when half of it is over: to move it costs as much as to read an
// answer.
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

// receive waits until something comes, and shows all messages that have come with it, and when that was. What is shown is
// gone afterwards.
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

// take takes a frame of the server's.
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
	return fmt.Errorf("a frame of kind %d", op)
}

// close gives the connection up without a word, as one that breaks.
func (s *socket) close() { _ = s.conn.Close() }
