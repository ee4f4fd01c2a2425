package hub

import (
	"errors"
	"io"
	"net"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
)

var errTooBig = errors.New("message too big")

// read is the reader. After a close of ours it goes on, to discard what comes until the peer's close frame.
//
// Handling a message makes its stack grow, and the collector never shrinks one to the size of a fresh one. So behind a
// message after which it may have to wait for long the reader parks or, if it cannot, goes on as a new goroutine: an idle
// connection's has only waited. For the same reason this function itself, which is what waits, keeps nothing on its stack.
func (c *Conn) read() {
	for {
		switch c.took(c.ws.NextReader()) {
		case readOn:
		case readAnew:
			if !c.park() {
				go c.read()
			}
			return
		case readNoMore:
			c.leave()
			return
		}
	}
}

// reading is what the reader does next.
type reading uint8

const (
	readOn reading = iota
	readAnew
	readNoMore
)

// took handles what NextReader gave.
func (c *Conn) took(kind int, r io.Reader, err error) reading {
	c.heard.Store(true)
	quiet := c.wasQuiet()
	if err == nil && !c.isClosing() {
		err = c.receive(kind == websocket.BinaryMessage, r)
	}
	switch {
	case err != nil:
		c.readFailed(err)
		return readNoMore
	case quiet:
		return readAnew
	}
	return readOn
}

// receive hands one message to the handler. It returns only errors that end the reading.
func (c *Conn) receive(binary bool, r io.Reader) error {
	pool := &c.hub.pools.reads
	buffer := pool.Get().(*[]byte)
	defer giveBuffer(pool, buffer)
	c.begun.Store(max(1, c.hub.wheels.now()))
	data, err := readMessage((*buffer)[:0], r, c.hub.o.FrameBytes)
	c.begun.Store(0)
	*buffer = data[:0]
	switch {
	case errors.Is(err, errTooBig):
		c.Close(websocket.CloseMessageTooBig, "too big")
		return nil
	case err != nil:
		return err
	case !binary && !utf8.Valid(data):
		c.Close(CloseProtocol, "protocol error")
		return nil
	}
	c.busy.Store(true)
	c.handler.Frame(binary, data)
	c.heard.Store(true)
	c.busy.Store(false)
	return nil
}

// readMessage reads a whole message into b, which grows as needed.
func readMessage(b []byte, r io.Reader, limit int) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
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

// readFailed ends the connection in the way the error asks for.
func (c *Conn) readFailed(err error) {
	var closed *websocket.CloseError
	var network net.Error
	switch {
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		// The peer's close frame: the answer is queued or, if we closed first, none is due.
	case errors.Is(err, websocket.ErrReadLimit):
		// A length that no message can have.
		c.Close(websocket.CloseMessageTooBig, "too big")
		c.linger()
	case closed != nil, errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
		c.fail()
	default:
		// What is left is a breach of RFC 6455, about which gorilla has sent its own close frame.
		c.silence()
		c.linger()
	}
}

// linger reads on for a moment: closing a socket with unread data would reset it, and the peer might never see our
// close frame.
func (c *Conn) linger() {
	conn := c.ws.NetConn()
	conn.SetReadDeadline(time.Now().Add(closeTimeout))
	_, _ = io.Copy(io.Discard, conn)
}

// pinged answers a WebSocket ping.
func (c *Conn) pinged(data string) error {
	c.heard.Store(true)
	c.enqueue(item{frame: newControl(opPong, []byte(data))})
	return nil
}

func (c *Conn) ponged(string) error {
	c.heard.Store(true)
	return nil
}
