//go:build linux

package hub

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// parker is a Handler that passes on what it hears.
type parker struct {
	quiet
	busy   atomic.Bool
	asked  hook // whether it is busy
	said   hook // something, which it answers if it happens
	frames chan said
	closed chan struct{}
}

// hook is what happens when a handler is called; the zero hook: nothing.
type hook struct{ atomic.Pointer[func()] }

func (h *hook) is(f func()) { h.Store(&f) }

func (h *hook) run() (is bool) {
	f := h.Load()
	if f != nil {
		(*f)()
	}
	return f != nil
}

// said is a message, and whether an ear had it handled itself.
type said struct {
	text  string
	byEar bool
}

func (p *parker) Frame(_ bool, data []byte) bool {
	answered := p.said.run()
	p.frames <- said{string(data), !strings.Contains(string(debug.Stack()), "(*Conn).read(")}
	return answered
}

func (p *parker) Closed() { close(p.closed) }

func (p *parker) Idle() bool {
	p.asked.run()
	return !p.busy.Load()
}

// lot is a running hub with one connection over TCP, and its client.
type lot struct {
	t       *testing.T
	conn    *Conn
	handler *parker
	client  *websocket.Conn
	stop    func()      // ends the hub's Run
	another func() *lot // one more of the same hub
}

// newLot makes one in which the connection is parked.
func newLot(t *testing.T) *lot {
	t.Helper()
	h := New(quietOptions())
	h.ears.wanted <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	attached := make(chan *Conn, 1)
	handlers := make(chan *parker, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(Audible(w), r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		attached <- h.Attach(ws, JSON, func(*Conn) Handler { return <-handlers })
	}))
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		server.Close()
	})
	var another func() *lot
	another = func() *lot {
		handler := &parker{frames: make(chan said, 10), closed: make(chan struct{})}
		handlers <- handler
		client, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		l := &lot{t: t, conn: <-attached, handler: handler, client: client, stop: cancel, another: another}
		l.ear()
		l.say("one") // to its first reader
		l.awaitParked()
		return l
	}
	return another()
}

// ear gives the ear of the connection, when it hears.
func (l *lot) ear() *ear {
	e := l.conn.hub.ears.of(l.conn)
	for on := false; !on; runtime.Gosched() {
		e.mu.Lock()
		on = e.on
		e.mu.Unlock()
	}
	return e
}

// masked is a message of a client, masked with nothing.
func masked(text string) []byte {
	frame := []byte{opText, 0x80 | byte(len(text))}
	switch {
	case len(text) >= 1<<16:
		frame[1] = 0x80 | 127
		frame = binary.BigEndian.AppendUint64(frame, uint64(len(text)))
	case len(text) >= 126:
		frame[1] = 0x80 | 126
		frame = binary.BigEndian.AppendUint16(frame, uint16(len(text)))
	}
	return append(append(frame, 0, 0, 0, 0), text...)
}

func (l *lot) write(piece []byte) {
	l.t.Helper()
	if _, err := l.client.NetConn().Write(piece); err != nil {
		l.t.Fatal(err)
	}
}

// say sends messages in one piece, and waits until they are heard.
func (l *lot) say(texts ...string) {
	l.t.Helper()
	var piece []byte
	for _, text := range texts {
		piece = append(piece, masked(text)...)
	}
	l.write(piece)
	for _, text := range texts {
		l.mustHear(text)
	}
}

func (l *lot) mustHear(text string) (byEar bool) {
	l.t.Helper()
	heard := <-l.handler.frames
	if heard.text != text {
		l.t.Fatalf("heard %.50q (%d), want %.50q (%d)", heard.text, len(heard.text), text, len(text))
	}
	return heard.byEar
}

// awaitParked waits until the connection has no reader, awaitReader until it has one.
func (l *lot) awaitParked() { l.awaitPark(true) }
func (l *lot) awaitReader() { l.awaitPark(false) }

func (l *lot) awaitPark(want bool) {
	for parked := !want; parked != want; runtime.Gosched() {
		l.conn.mu.Lock()
		parked = l.conn.parked
		l.conn.mu.Unlock()
	}
}

// TestParkedIsHeard: an ear has whole short messages handled, and leaves to a reader what might hold it up.
func TestParkedIsHeard(t *testing.T) {
	l := newLot(t)
	word := strings.Repeat("word", 1000)
	atOnce := masked("at once")
	ping := []byte{opPing, 0x80, 0, 0, 0, 0}
	fragments := append([]byte{0x01, 0x82, 0, 0, 0, 0, 'a', 't', 0x80, 0x85, 0, 0, 0, 0}, " once"...)
	unwilling := func(is bool) func() { return func() { l.handler.busy.Store(is) } }
	owing := func(n int64) func() { return func() { l.conn.owed.Add(n * int64(l.conn.hub.o.QueueBytes)) } }
	for _, c := range []struct {
		name   string
		pieces [][]byte
		want   []string
		byEar  bool
		before func()
	}{
		{"a short one", [][]byte{atOnce}, []string{"at once"}, true, nil},
		{"none of text", [][]byte{masked("")}, []string{""}, true, nil},
		{"a longer one", [][]byte{masked(word)}, []string{word}, true, nil},
		{"longer than the ear's buffer", [][]byte{masked(word + word)}, []string{word + word}, false, nil},
		{"as long as the ear's buffer", [][]byte{masked((word + word)[:earBuffer-8])}, []string{(word + word)[:earBuffer-8]}, false, nil},
		{"in two pieces", [][]byte{atOnce[:8], atOnce[8:]}, []string{"at once"}, false, nil},
		{"half a header first", [][]byte{atOnce[:1], atOnce[1:]}, []string{"at once"}, false, nil},
		{"two in a piece", [][]byte{append(masked("one"), masked("two")...)}, []string{"one", "two"}, false, nil},
		{"one and a half", [][]byte{append(masked("one"), atOnce[:3]...), atOnce[3:]}, []string{"one", "at once"}, false, nil},
		{"fragments", [][]byte{fragments}, []string{"at once"}, false, nil},
		{"a ping before", [][]byte{ping, atOnce}, []string{"at once"}, false, nil},
		{"while it is busy", [][]byte{atOnce}, []string{"at once"}, false, unwilling(true)},
		{"when it is not any more", [][]byte{atOnce}, []string{"at once"}, true, unwilling(false)},
		{"while the client does not read", [][]byte{atOnce}, []string{"at once"}, false, owing(2)},
		{"when it has read", [][]byte{atOnce}, []string{"at once"}, true, owing(-2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.t = t
			l.awaitParked()
			if c.before != nil {
				c.before()
			}
			for i, piece := range c.pieces {
				l.write(piece)
				if i < len(c.pieces)-1 {
					l.awaitReader()
				}
			}
			for _, text := range c.want {
				if byEar := l.mustHear(text); byEar != c.byEar {
					t.Errorf("%.10q was handled by an ear: %v", text, byEar)
				}
			}
		})
	}
}

// TestParkedIsAnswered: what the handler queues is sent, whether an ear has it handle a message or a reader.
func TestParkedIsAnswered(t *testing.T) {
	l := newLot(t)
	l.handler.said.is(func() { l.conn.Queue([]byte("answer")) })
	for _, asked := range [][]string{{"by an ear"}, {"by", "a", "reader"}, {"by an ear"}} {
		l.awaitParked()
		l.say(asked...)
		for answers := 0; answers < len(asked); {
			_, frame, err := l.client.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			answers += strings.Count(string(frame), "answer")
		}
	}
}

// TestParkedMissesNothing: whatever is sent, in whatever pieces, is heard, and in order.
func TestParkedMissesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	lots := []*lot{newLot(t)}
	for range 7 { // some of which have the same ear
		lots = append(lots, lots[0].another())
	}
	for range 200 {
		var all sync.WaitGroup
		for _, l := range lots {
			var texts []string
			var bytes []byte
			for i := range 1 + random.IntN(8) {
				size := random.IntN(8)
				if random.IntN(10) == 0 {
					size = random.IntN(3 * earBuffer)
				}
				texts = append(texts, strings.Repeat(string(rune('a'+i)), size))
				bytes = append(bytes, masked(texts[i])...)
			}
			var pieces [][]byte
			for len(bytes) > 0 {
				n := min(len(bytes), 1+random.IntN(min(40, len(bytes))))
				if random.IntN(2) == 0 {
					n = len(bytes)
				}
				pieces, bytes = append(pieces, bytes[:n]), bytes[n:]
			}
			all.Go(func() {
				for _, piece := range pieces {
					l.write(piece)
					runtime.Gosched()
				}
			})
			all.Go(func() {
				for _, text := range texts {
					l.mustHear(text)
				}
			})
		}
		all.Wait()
	}
}

// TestParkedHearsBehindWhatIsUrgent: a read ends before it, but that is not all there is.
func TestParkedHearsBehindWhatIsUrgent(t *testing.T) {
	l := newLot(t)
	raw, err := l.client.NetConn().(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	e := l.ear()
	e.mu.Lock() // it hears nothing until all is there
	l.write(masked("two"))
	if err := raw.Control(func(fd uintptr) { err = syscall.Sendto(int(fd), []byte("!"), syscall.MSG_OOB, nil) }); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Error(err)
	}
	l.write(masked("three"))
	e.mu.Unlock()
	l.mustHear("two")
	l.mustHear("three")
}

// TestParkedAsksWhoIsBusyFirst: who is not any more has all his replies counted.
func TestParkedAsksWhoIsBusyFirst(t *testing.T) {
	l := newLot(t)
	more := int64(2 * l.conn.hub.o.QueueBytes)
	l.handler.asked.is(func() { l.conn.owed.Store(more) })
	l.write(masked("two"))
	if l.mustHear("two") {
		t.Error("an ear handled it, who might have to wait for the client")
	}
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
		"the client is gone behind a message": func(l *lot) {
			l.write(masked("last words"))
			_ = l.client.NetConn().Close()
			l.mustHear("last words")
		},
		"the client breaks the protocol": func(l *lot) { l.write([]byte("nonsense")) },
		"we say goodbye": func(l *lot) {
			l.conn.Close(CloseSlow, "too slow")
			if _, _, err := l.client.ReadMessage(); !websocket.IsCloseError(err, CloseSlow) {
				l.t.Errorf("the client hears %v", err)
			}
		},
		"an ear has us say goodbye, and the client says nothing": func(l *lot) {
			l.handler.said.is(func() { l.conn.Close(CloseSlow, "too slow") })
			l.write(masked("last words"))
		},
		"the hub stops": func(l *lot) { l.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLot(t)
			end(l)
			<-l.handler.closed
			if e := l.conn.hub.ears.of(l.conn); e.connOf(l.conn.fd) != nil {
				t.Error("remembered when it is gone")
			}
		})
	}
}

// TestParkedWhileItEnds: a reader that is about to park when the connection ends leaves nothing behind.
func TestParkedWhileItEnds(t *testing.T) {
	l := newLot(t)
	c, e := l.conn, l.ear()
	e.forget(c) // as if it were only about to be heard
	_ = c.raw.Control(func(uintptr) {
		go c.fail()
		<-l.handler.closed
		if e.add(c) {
			t.Error("heard when it is gone")
		}
	})
	if e.connOf(c.fd) != nil {
		t.Error("remembered when it is gone")
	}
}

// TestParkedOutliveTheEars: when none hears any more, they have readers again.
func TestParkedOutliveTheEars(t *testing.T) {
	l := newLot(t)
	l.ear().giveBack()
	l.say("two")
}
