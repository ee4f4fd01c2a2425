package load

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// socket is one connection. It costs as little as a client can that still reads everything: no goroutine but its reader's,
// and memory only while something comes or goes.
type socket struct{ ws *websocket.Conn }

const (
	dialPatience  = 20 * time.Second
	writePatience = 10 * time.Second
)

var (
	writeBuffers sync.Pool
	frames       = sync.Pool{New: func() any { return new(bytes.Buffer) }}
)

// dial opens a socket at an instance.
func dial(ctx context.Context, url string) (socket, error) {
	d := websocket.Dialer{ReadBufferSize: 512, WriteBufferSize: 1024, WriteBufferPool: &writeBuffers, HandshakeTimeout: dialPatience}
	ws, response, err := d.DialContext(ctx, url, nil)
	if response != nil {
		_ = response.Body.Close()
	}
	if err != nil && response != nil && response.StatusCode == http.StatusServiceUnavailable {
		return socket{}, errSentAway
	}
	if err != nil {
		return socket{}, fmt.Errorf("dial: %w", err)
	}
	return socket{ws}, nil
}

// send writes one frame. Only one goroutine may at a time.
func (s socket) send(frame []byte) error {
	_ = s.ws.SetWriteDeadline(time.Now().Add(writePatience))
	return s.ws.WriteMessage(websocket.TextMessage, frame)
}

// receive waits for a frame and shows its lines. What is shown is gone afterwards.
func (s socket) receive(show func(l line) error) error {
	_, r, err := s.ws.NextReader()
	if err != nil {
		return err
	}
	frame := frames.Get().(*bytes.Buffer)
	defer frames.Put(frame)
	frame.Reset()
	if _, err := frame.ReadFrom(r); err != nil {
		return err
	}
	for rest := frame.Bytes(); len(rest) > 0; {
		var one []byte
		one, rest, _ = bytes.Cut(rest, []byte("\n"))
		l, ok := readLine(one)
		if !ok {
			return fmt.Errorf("no message: %.200q", one)
		}
		if err := show(l); err != nil {
			return err
		}
	}
	return nil
}

// close gives the connection up without a word, as one that breaks.
func (s socket) close() { _ = s.ws.NetConn().Close() }
