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
func (c *Conn) read() {
	for {
		flush, err := c.took(c.ws.NextReader())
		if flush {
			c.Flush()
		}
		if err != nil {
			c.readFailed(err)
			c.leave()
			return
		}
		if c.park() {
			return
		}
	}
}

// took handles what NextReader gave; flush: as of Handler.Frame. It returns only errors that end the reading.
func (c *Conn) took(kind int, r io.Reader, err error) (flush bool, _ error) {
	c.heard.Store(true)
	if err != nil || c.isClosing() {
		return false, err
	}
	return c.receive(kind == websocket.BinaryMessage, r)
}

// receive hands one message to the handler.
func (c *Conn) receive(binary bool, r io.Reader) (flush bool, _ error) {
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
		return false, nil
	case err != nil:
		return false, err
	case !binary && !utf8.Valid(data):
		c.Close(CloseProtocol, "protocol error")
		return false, nil
	}
	c.busy.Store(true)
	flush = c.handler.Frame(binary, data)
	c.heard.Store(true)
	c.busy.Store(false)
	return flush, nil
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
