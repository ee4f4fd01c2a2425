//go:build linux

package hub

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// parker is a Handler that passes on what it hears.
type parker struct {
	quiet
	frames chan string
	closed chan struct{}
}

func (p parker) Frame(_ bool, data []byte) { p.frames <- string(data) }
func (p parker) Closed()                   { close(p.closed) }

// lot is a running hub with one connection over TCP, and its client.
type lot struct {
	t       *testing.T
	conn    *Conn
	handler parker
	client  *websocket.Conn
	stop    func() // ends the hub's Run
}

func newLot(t *testing.T) *lot {
	t.Helper()
	h := New(quietOptions())
	h.wheels.start = h.wheels.start.Add(-time.Hour) // whoever has not said anything yet was quiet
	h.watch.wanted <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	attached := make(chan *Conn, 1)
	handler := parker{frames: make(chan string, 10), closed: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := &knownReader{ResponseWriter: w}
		ws, err := (&websocket.Upgrader{}).Upgrade(known, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		attached <- h.Attach(ws, JSON, func(c *Conn) Handler {
			c.ReadThrough(known.reader)
			return handler
		})
	}))
	client, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &lot{t: t, conn: <-attached, handler: handler, client: client, stop: cancel}
	t.Cleanup(func() {
		_ = client.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		server.Close()
	})
	for on := false; !on; runtime.Gosched() {
		h.watch.mu.Lock()
		on = h.watch.on
		h.watch.mu.Unlock()
	}
	return l
}

// knownReader is a response that knows through what its connection is read.
type knownReader struct {
	http.ResponseWriter
	reader *bufio.Reader
}

func (k *knownReader) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(k.ResponseWriter).Hijack()
	if err == nil {
		k.reader = buffers.Reader
	}
	return conn, buffers, err
}

// say sends as many messages in one piece, and waits until they are heard.
func (l *lot) say(texts ...string) {
	l.t.Helper()
	var piece []byte
	for _, text := range texts { // masked with nothing
		piece = append(append(piece, opText, 0x80|byte(len(text)), 0, 0, 0, 0), text...)
	}
	if _, err := l.client.NetConn().Write(piece); err != nil {
		l.t.Fatal(err)
	}
	for _, text := range texts {
		if heard := <-l.handler.frames; heard != text {
			l.t.Fatalf("heard %q, want %q", heard, text)
		}
	}
}

// awaitParked waits until the connection has no reader.
func (l *lot) awaitParked() {
	for parked := false; !parked; runtime.Gosched() {
		l.conn.mu.Lock()
		parked = l.conn.parked
		l.conn.mu.Unlock()
	}
}

// TestParkedIsHeard: all that comes after a rest, whether it is read with what came before or not.
func TestParkedIsHeard(t *testing.T) {
	l := newLot(t)
	began := time.Now()
	l.say("one")
	l.awaitParked()
	l.say("two", "three", "four")
	l.say("five")
	if l.conn.unpark() && time.Since(began) < quietAfter {
		t.Error("parked in the midst of a talk")
	}
	other := newLot(t)
	other.say("one", "two", "three") // the first would have it park
	other.say("four")
}

// TestParkedHearsTheEnd whoever ends the connection.
func TestParkedHearsTheEnd(t *testing.T) {
	for name, end := range map[string]func(*lot){
		"the client says goodbye": func(l *lot) {
			goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			if err := l.client.WriteControl(websocket.CloseMessage, goodbye, time.Time{}); err != nil {
				l.t.Error(err)
			}
		},
		"the client is gone": func(l *lot) { _ = l.client.NetConn().Close() },
		"we say goodbye": func(l *lot) {
			l.conn.Close(CloseSlow, "too slow")
			if _, _, err := l.client.ReadMessage(); !websocket.IsCloseError(err, CloseSlow) {
				l.t.Errorf("the client hears %v", err)
			}
		},
		"the hub stops": func(l *lot) { l.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLot(t)
			l.say("one")
			l.awaitParked()
			end(l)
			<-l.handler.closed
			w := &l.conn.hub.watch
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, c := range w.conns {
				if c != nil {
					t.Error("remembered when it is gone")
				}
			}
		})
	}
}

// TestParkedWhileItEnds: a reader that is about to park when the connection ends leaves nothing behind.
func TestParkedWhileItEnds(t *testing.T) {
	l := newLot(t)
	l.say("one")
	l.awaitParked()
	c, w := l.conn, &l.conn.hub.watch
	w.forget(c) // as if it were only about to be watched
	_ = c.raw.Control(func(fd uintptr) {
		go c.fail()
		<-l.handler.closed
		if w.enter(c, int(fd)) {
			t.Error("watched when it is gone")
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Contains(w.conns, c) {
		t.Error("remembered when it is gone")
	}
}

// TestParkedOutliveTheWatch: when there is no watch any more, they have readers again.
func TestParkedOutliveTheWatch(t *testing.T) {
	l := newLot(t)
	l.say("one")
	l.awaitParked()
	l.conn.hub.watch.end()
	l.say("two")
}
