package hub

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// countedConn is a connection whose client takes everything. It counts the writes.
type countedConn struct {
	net.Conn // nil: no other method is called

	writes, bytes atomic.Int64
	gate          chan struct{} // a write waits until it is closed
	closed        chan struct{}
	once          sync.Once
}

func (c *countedConn) Write(b []byte) (int, error) {
	c.writes.Add(1)
	c.bytes.Add(int64(len(b)))
	<-c.gate
	return len(b), nil
}

func (c *countedConn) Read([]byte) (int, error) {
	<-c.closed
	return 0, net.ErrClosed
}

func (c *countedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *countedConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *countedConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *countedConn) SetDeadline(time.Time) error      { return nil }
func (c *countedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *countedConn) SetWriteDeadline(time.Time) error { return nil }

// countedUpgrade is a ResponseWriter for the upgrade of a countedConn.
type countedUpgrade struct {
	http.ResponseWriter

	conn *countedConn
}

func (u countedUpgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return u.conn, bufio.NewReadWriter(bufio.NewReader(u.conn), bufio.NewWriter(u.conn)), nil
}

// countedRoom is a hub with many connections that are subscribed to "room".
type countedRoom struct {
	hub   *Hub
	conns []*countedConn
}

func newCountedRoom(t *testing.T, sockets int, e Encoding) *countedRoom {
	t.Helper()
	r := &countedRoom{hub: New(quietOptions())}
	request := &http.Request{Method: http.MethodGet, Header: http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="},
	}}
	for range sockets {
		conn := &countedConn{closed: make(chan struct{})}
		conn.open()
		ws, err := (&websocket.Upgrader{ReadBufferSize: 256, WriteBufferPool: &sync.Pool{}}).Upgrade(countedUpgrade{conn: conn}, request, nil)
		if err != nil {
			t.Fatal(err)
		}
		conn.writes.Store(0)
		conn.bytes.Store(0)
		r.hub.Attach(ws, e, func(*Conn) Handler { return quiet{} }).Subscribe("room", 0, nil)
		r.conns = append(r.conns, conn)
	}
	t.Cleanup(func() { r.hub.conns.Stop(func(c *Conn) { c.socket.Abort() }) })
	return r
}

// shut makes writes wait for open.
func (c *countedConn) shut() { c.gate = make(chan struct{}) }

func (c *countedConn) open() {
	if c.gate == nil {
		c.gate = make(chan struct{})
	}
	close(c.gate)
}

func (r *countedRoom) publish(seq int64) {
	r.hub.Publish("room", Message{Seq: seq, Data: countedText(seq)})
}

func countedText(seq int64) []byte { return fmt.Appendf(bytes.Repeat([]byte("x"), 200), "%08d", seq) }

// written waits until nothing is queued, and returns the connections.
func (r *countedRoom) written() []*countedConn {
	for _, c := range r.hub.conns.List() {
		for c.socket.QueuedBytes() > 0 {
			runtime.Gosched()
		}
	}
	return r.conns
}

// awaitWritten waits until nothing is queued, and fails if a socket needed more writes or bytes.
func (r *countedRoom) awaitWritten(t *testing.T, writes int64, texts int64) {
	t.Helper()
	for i, c := range r.written() {
		body := texts * int64(len(countedText(1)))
		most := body + 2*texts + 4*writes // two bytes between texts, four before a frame
		if got, size := c.writes.Load(), c.bytes.Load(); got > writes || size < body || size > most {
			t.Fatalf("socket %d: %d writes of %d bytes for %d texts, want at most %d writes and %d bytes", i, got, size, texts, writes, most)
		}
	}
}

// await waits until this many messages were added.
func (a *arrivals) await(t *testing.T, messages uint64) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		a.mu.Lock()
		added := a.added
		a.mu.Unlock()
		if added >= messages {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d messages were handed over, want %d", added, messages)
		}
	}
}

const (
	countedSockets = 1_000
	countedTexts   = 64
)

// TestWritesOfABroadcast counts what a socket costs: 64 texts that were committed together reach each of 1,000 sockets in one
// write, or in two if the first text is being written when the others come.
func TestWritesOfABroadcast(t *testing.T) {
	for _, e := range []Encoding{JSON, Protobuf} {
		t.Run(fmt.Sprint("published at once, encoding ", e), func(t *testing.T) {
			r := newCountedRoom(t, countedSockets, e)
			room := r.hub.topics.lock("room")
			var publishers sync.WaitGroup
			for seq := range int64(countedTexts) {
				publishers.Go(func() { r.publish(seq + 1) })
			}
			room.arrivals.await(t, countedTexts)
			room.mu.Unlock()
			publishers.Wait()
			r.awaitWritten(t, 1, countedTexts)
		})
		t.Run(fmt.Sprint("the first comes last, encoding ", e), func(t *testing.T) {
			r := newCountedRoom(t, countedSockets, e)
			for seq := int64(countedTexts); seq > 0; seq-- {
				r.publish(seq)
			}
			r.awaitWritten(t, 1, countedTexts)
		})
		t.Run(fmt.Sprint("while the first is being written, encoding ", e), func(t *testing.T) {
			r := newCountedRoom(t, countedSockets, e)
			for _, c := range r.conns {
				c.shut()
			}
			r.publish(1)
			for _, c := range r.conns {
				for c.writes.Load() == 0 {
					runtime.Gosched()
				}
			}
			for seq := range int64(countedTexts - 1) {
				r.publish(seq + 2)
			}
			for _, c := range r.conns {
				c.open()
			}
			r.awaitWritten(t, 2, countedTexts)
		})
	}
}

// frameSize returns the size of a frame with this many texts: between two of them is a line end.
func frameSize(texts int) int64 {
	if texts == 0 {
		return 0
	}
	return int64(4 + texts*len(countedText(1)) + texts - 1)
}

// TestTextsTogetherRespectPositions publishes texts that become one frame, to connections that have read some of them already.
// Each connection gets exactly the texts after its position.
func TestTextsTogetherRespectPositions(t *testing.T) {
	const texts = 4
	r := newCountedRoom(t, 12, JSON)
	room := r.hub.topics.lock("room")
	for i, s := range room.subscriptions {
		s.after = int64(i % (texts + 2))
	}
	room.mu.Unlock()
	for seq := int64(texts); seq > 0; seq-- {
		r.publish(seq)
	}
	delivered := 0
	for i, c := range r.written() {
		n := max(0, texts-i%(texts+2))
		delivered += n
		if got := c.bytes.Load(); got != frameSize(n) {
			t.Errorf("a connection at position %d: %d bytes, want %d of %d texts", i%(texts+2), got, frameSize(n), n)
		}
	}
	if got := r.hub.Stats().Delivered; got != uint64(delivered) {
		t.Errorf("%d deliveries are counted, want %d", got, delivered)
	}
}

// TestFinalEndsWithinTextsTogether publishes five texts at once, of which the third ends the subscription of one connection. That
// connection gets the first three, the others get all.
func TestFinalEndsWithinTextsTogether(t *testing.T) {
	const texts, final = 5, 3
	r := newCountedRoom(t, 10, JSON)
	r.hub.topics.lookup("room").subscriptions[0].to.(*Conn).Subscribe("leaver", 0, nil)
	for seq := int64(texts); seq > 0; seq-- {
		m := Message{Seq: seq, Data: countedText(seq)}
		if seq == final {
			m.Final = "leaver"
		}
		r.hub.Publish("room", m)
	}
	for i, c := range r.written() {
		n := texts
		if i == 0 {
			n = final
		}
		if got := c.bytes.Load() / int64(len(countedText(1))); got != int64(n) {
			t.Errorf("connection %d: %d texts, want %d", i, got, n)
		}
	}
}

// TestMessageHandedToADeadTopic publishes to a topic that dies while the publisher waits for it, and for which there is a new
// topic by then. The subscriber of the new topic gets the message, as it would have without the wait.
func TestMessageHandedToADeadTopic(t *testing.T) {
	r := newCountedRoom(t, crowd, JSON)
	room := r.hub.topics.lock("room")
	var publisher sync.WaitGroup
	publisher.Go(func() { r.publish(1) })
	room.arrivals.await(t, 1)
	room.die()
	r.hub.conns.List()[0].Subscribe("room", 0, nil)
	room.mu.Unlock()
	publisher.Wait()
	if got := r.hub.Stats().Delivered; got != 1 {
		t.Errorf("%d deliveries, want the one of the new topic", got)
	}
}
