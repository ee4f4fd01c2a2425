package socket

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"hongbao/hub/internal/poll"
	"hongbao/hub/internal/wheel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pollerBuffer is how many bytes a poller reads at a time.
const pollerBuffer = 4 << 10

// recordingOwner is an Owner that sends each message it handles to the test.
type recordingOwner struct {
	socket   *Socket
	onFrame  atomic.Pointer[func() (flush bool, rest func())] // called for each message; nil: nothing is called
	messages chan message
	left     chan struct{}
	refuses  atomic.Bool // whether the socket is closed for a control frame
}

// message is a message that was handled, and whether a poller's goroutine handled it.
type message struct {
	text     string
	byPoller bool
}

func (o *recordingOwner) Frame(_ bool, data []byte) (flush bool, rest func()) {
	if f := o.onFrame.Load(); f != nil {
		flush, rest = (*f)()
	}
	o.messages <- message{string(data), !strings.Contains(string(debug.Stack()), "reader.run(")}
	return flush, rest
}

func (o *recordingOwner) Control() bool {
	if o.refuses.Load() {
		o.socket.Close(CloseProtocol, "too many")
	}
	return !o.refuses.Load()
}

func (o *recordingOwner) Idle() bool     { return true }
func (o *recordingOwner) Left()          { close(o.left) }
func (o *recordingOwner) Gone(int, bool) {}

// spyPoller wraps a poller and records which connections it watches.
type spyPoller struct {
	poll.Poller

	mu      sync.Mutex
	watched map[poll.Conn]bool // guarded by mu
}

func (p *spyPoller) Watch(c poll.Conn) bool {
	watched := p.Poller.Watch(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched[c] = watched
	return watched
}

func (p *spyPoller) Forget(c poll.Conn) {
	p.Poller.Forget(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.watched, c)
}

func (p *spyPoller) watches(s *Socket) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.watched[reader{s}]
}

// testServer accepts WebSockets for one group of sockets.
type testServer struct {
	t        *testing.T
	group    *Group
	poller   *spyPoller
	stop     context.CancelFunc // ends the poller
	url      string
	attached chan *recordingOwner
}

// testConn is a connection of the test server, and its client.
type testConn struct {
	t      *testing.T
	server *testServer
	owner  *recordingOwner
	client *websocket.Conn
}

func newTestServer(t *testing.T, poller poll.Poller) *testServer {
	t.Helper()
	wheels := wheel.New()
	s := &testServer{t: t, poller: &spyPoller{Poller: poller, watched: map[poll.Conn]bool{}}, attached: make(chan *recordingOwner, 1)}
	s.group = NewGroup(Options{
		Ping: func(Encoding) []byte { return []byte("{}") }, QueueBytes: 1 << 20, FrameBytes: 64 << 10, PingEvery: time.Hour, PongWithin: time.Hour,
	}, wheels, s.poller)
	s.group.closeTimeout = time.Second / 10 // nothing in these tests waits for the peer's close frame
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	ended := make(chan struct{})
	go func() {
		poller.Run(ctx)
		close(ended)
	}()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := (&websocket.Upgrader{}).Upgrade(Pollable(w), r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		o := &recordingOwner{socket: new(Socket), messages: make(chan message, 10), left: make(chan struct{})}
		s.group.Open(o.socket, ws, JSON, o)
		o.socket.Start()
		s.attached <- o
	}))
	s.url = "ws" + strings.TrimPrefix(server.URL, "http")
	t.Cleanup(func() {
		cancel()
		<-ended
		server.Close()
	})
	return s
}

// connect returns a new connection. If the poller under test parks connections, the connection is parked.
func (s *testServer) connect() *testConn {
	s.t.Helper()
	client, _, err := websocket.DefaultDialer.Dial(s.url, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	c := &testConn{t: s.t, server: s, owner: <-s.attached, client: client}
	s.t.Cleanup(func() {
		_ = client.Close()
		c.owner.socket.Abort()
		<-c.owner.left
	})
	if s.parks() {
		for !s.poller.watches(c.owner.socket) {
			c.say("wake up") // each message is handled by a reader goroutine, which then tries to park
			runtime.Gosched()
		}
	}
	c.say("first")
	c.awaitParked()
	return c
}

// parks reports whether the poller under test parks connections.
func (s *testServer) parks() bool {
	_, reference := s.poller.Poller.(poll.Goroutines)
	return !reference
}

// clientFrame returns a text message as a client sends it, masked with zeros.
func clientFrame(text string) []byte {
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

// write sends bytes as the client, in one Write.
func (c *testConn) write(piece []byte) {
	c.t.Helper()
	if _, err := c.client.NetConn().Write(piece); err != nil {
		c.t.Fatal(err)
	}
}

// say sends text messages as the client, in one Write, and waits until they are handled.
func (c *testConn) say(texts ...string) {
	c.t.Helper()
	var piece []byte
	for _, text := range texts {
		piece = append(piece, clientFrame(text)...)
	}
	c.write(piece)
	for _, text := range texts {
		c.awaitMessage(text)
	}
}

// awaitMessage waits until the next message is handled and checks its text. It reports whether a poller handled it.
func (c *testConn) awaitMessage(text string) (byPoller bool) {
	c.t.Helper()
	select {
	case m := <-c.owner.messages:
		if m.text != text {
			c.t.Fatalf("the message %.50q (%d bytes) was handled, want %.50q (%d bytes)", m.text, len(m.text), text, len(text))
		}
		return m.byPoller
	case <-time.After(time.Minute):
		c.t.Fatalf("the message %.50q (%d bytes) was not handled", text, len(text))
		return false
	}
}

// awaitParked waits until the connection is parked. It returns at once if the poller under test does not park
// connections.
func (c *testConn) awaitParked() {
	if c.server.parks() {
		c.awaitParking(true)
	}
}

func (c *testConn) awaitParking(want bool) {
	for parked := !want; parked != want; runtime.Gosched() {
		c.owner.socket.mu.Lock()
		parked = c.owner.socket.parked
		c.owner.socket.mu.Unlock()
	}
}

// awaitTaken waits until the server has read what the client has written, and the connection is not parked. A poller that has claimed
// the connection reads it a moment later: what the client writes in between would arrive in the same piece.
func (c *testConn) awaitTaken() {
	c.awaitParking(false)
	for err := error(nil); !errors.Is(err, syscall.EAGAIN); runtime.Gosched() {
		_, _, err = syscall.Recvfrom(int(c.owner.socket.fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	}
}

// eachPoller runs a test once with each poller of the operating system.
func eachPoller(t *testing.T, test func(t *testing.T, s *testServer)) {
	for _, poller := range []func() poll.Poller{poll.New, func() poll.Poller { return poll.Goroutines{} }} {
		t.Run(reflect.TypeOf(poller()).String(), func(t *testing.T) { test(t, newTestServer(t, poller())) })
	}
}

// TestPollerHandlesWholeShortMessages sends messages of several forms. The poller may handle only a short message in a
// single frame that arrived whole. Everything else might block and must be handled by a reader goroutine.
func TestPollerHandlesWholeShortMessages(t *testing.T) {
	c := newTestServer(t, poll.New()).connect()
	word := strings.Repeat("word", 1000)
	whole := clientFrame("at once")
	ping := []byte{opPing, 0x80, 0, 0, 0, 0}
	fragments := append([]byte{0x01, 0x82, 0, 0, 0, 0, 'a', 't', 0x80, 0x85, 0, 0, 0, 0}, " once"...)
	addReplies := func(queues int64) func() {
		return func() {
			c.owner.socket.queue.replies.Add(queues << 20)
			if queues < 0 {
				c.owner.socket.mu.Lock()
				c.owner.socket.wakeBehindLocked()
				c.owner.socket.mu.Unlock()
			}
		}
	}
	for _, test := range []struct {
		name     string
		pieces   [][]byte
		want     []string
		byPoller bool
	}{
		{"short", [][]byte{whole}, []string{"at once"}, true},
		{"empty", [][]byte{clientFrame("")}, []string{""}, true},
		{"longer", [][]byte{clientFrame(word)}, []string{word}, true},
		{"longer than the buffer", [][]byte{clientFrame(word + word)}, []string{word + word}, false},
		{"as long as the buffer", [][]byte{clientFrame((word + word)[:pollerBuffer-8])}, []string{(word + word)[:pollerBuffer-8]}, false},
		{"two pieces", [][]byte{whole[:8], whole[8:]}, []string{"at once"}, false},
		{"half a header first", [][]byte{whole[:1], whole[1:]}, []string{"at once"}, false},
		{"two messages in a piece", [][]byte{append(clientFrame("one"), clientFrame("two")...)}, []string{"one", "two"}, false},
		{"one message and a half", [][]byte{append(clientFrame("one"), whole[:3]...), whole[3:]}, []string{"one", "at once"}, false},
		{"fragments", [][]byte{fragments}, []string{"at once"}, false},
		{"a ping before", [][]byte{ping, whole}, []string{"at once"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.t = t
			c.awaitParked()
			for i, piece := range test.pieces {
				c.write(piece)
				if i < len(test.pieces)-1 {
					c.awaitTaken()
				}
			}
			for _, text := range test.want {
				if byPoller := c.awaitMessage(text); byPoller != test.byPoller {
					t.Errorf("%.10q was handled by the poller: %v, want %v", text, byPoller, test.byPoller)
				}
			}
		})
	}
	t.Run("while the client does not take its replies", func(t *testing.T) {
		c.t = t
		c.awaitParked()
		addReplies(2)()
		c.write(whole)
		c.awaitTaken()
		select {
		case m := <-c.owner.messages:
			t.Errorf("%q was handled", m.text)
		case <-time.After(50 * time.Millisecond):
		}
		addReplies(-2)()
		if c.awaitMessage("at once") {
			t.Error("the poller waited for the client")
		}
	})
	t.Run("after the client has taken them", func(t *testing.T) {
		c.t = t
		c.awaitParked()
		c.write(whole)
		if !c.awaitMessage("at once") {
			t.Error("a reader handled it, want the poller")
		}
	})
}

// TestPollerLeavesTheRestToAGoroutine has Owner.Frame return work that blocks. The work must not delay other
// connections, and must end before the next message of its connection is handled.
func TestPollerLeavesTheRestToAGoroutine(t *testing.T) {
	eachPoller(t, func(t *testing.T, s *testServer) {
		blocked := s.connect()
		others := []*testConn{s.connect(), s.connect(), s.connect()} // some are watched by the same loop
		release := make(chan struct{})
		var done atomic.Bool
		onFrame := func() (bool, func()) {
			return false, func() {
				<-release
				done.Store(true)
			}
		}
		blocked.owner.onFrame.Store(&onFrame)
		blocked.write(clientFrame("slow"))
		blocked.awaitMessage("slow")
		blocked.owner.onFrame.Store(nil)
		for _, other := range others {
			other.say("quick")
		}
		blocked.write(clientFrame("next"))
		select {
		case m := <-blocked.owner.messages:
			t.Errorf("%q was handled before the rest", m.text)
		case <-time.After(50 * time.Millisecond):
		}
		close(release)
		blocked.awaitMessage("next")
		if !done.Load() {
			t.Error("the next message was handled before the end of the rest")
		}
		blocked.awaitParked()
		blocked.say("last")
	})
}

// TestRepliesOfAPollerAreSent has the owner queue replies. The client must receive them, whether a poller or a reader
// goroutine handled the message.
func TestRepliesOfAPollerAreSent(t *testing.T) {
	eachPoller(t, func(t *testing.T, s *testServer) {
		c := s.connect()
		onFrame := func() (bool, func()) { return c.owner.socket.Reply([]byte("answer")), nil }
		c.owner.onFrame.Store(&onFrame)
		for _, texts := range [][]string{{"by a poller"}, {"by", "a", "reader"}, {"by a poller"}} {
			c.awaitParked()
			c.say(texts...)
			for answers := 0; answers < len(texts); {
				_, frame, err := c.client.ReadMessage()
				if err != nil {
					t.Fatal(err)
				}
				answers += strings.Count(string(frame), "answer")
			}
		}
	})
}

// TestNoMessageIsMissed sends random messages, split into random pieces. All must be handled, in order.
func TestNoMessageIsMissed(t *testing.T) {
	eachPoller(t, func(_ *testing.T, s *testServer) {
		random := rand.New(rand.NewPCG(1, 2))
		var conns []*testConn
		for range 8 { // some are watched by the same loop
			conns = append(conns, s.connect())
		}
		for range 200 {
			var all sync.WaitGroup
			for _, c := range conns {
				texts, pieces := randomMessages(random)
				all.Go(func() {
					for _, piece := range pieces {
						c.write(piece)
						runtime.Gosched()
					}
				})
				all.Go(func() {
					for _, text := range texts {
						c.awaitMessage(text)
					}
				})
			}
			all.Wait()
		}
	})
}

// randomMessages returns random messages, and the pieces of bytes in which a client sends them.
func randomMessages(random *rand.Rand) (texts []string, pieces [][]byte) {
	var bytes []byte
	for i := range 1 + random.IntN(8) {
		size := random.IntN(8)
		if random.IntN(10) == 0 {
			size = random.IntN(3 * pollerBuffer)
		}
		texts = append(texts, strings.Repeat(string(rune('a'+i)), size))
		bytes = append(bytes, clientFrame(texts[i])...)
	}
	for len(bytes) > 0 {
		n := min(len(bytes), 1+random.IntN(min(40, len(bytes))))
		if random.IntN(2) == 0 {
			n = len(bytes)
		}
		pieces, bytes = append(pieces, bytes[:n]), bytes[n:]
	}
	return texts, pieces
}

// TestUrgentDataHidesNothing sends data after a byte of urgent data. A read stops before the urgent byte; the data
// after it must be read all the same.
func TestUrgentDataHidesNothing(t *testing.T) {
	c := newTestServer(t, poll.New()).connect()
	raw, err := c.client.NetConn().(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	handling, resume := make(chan struct{}), make(chan struct{})
	onFrame := func() (bool, func()) { // blocks the poller until all data has arrived; a real owner must not do that
		close(handling)
		<-resume
		return false, nil
	}
	c.owner.onFrame.Store(&onFrame)
	c.write(clientFrame("one"))
	<-handling
	c.owner.onFrame.Store(nil)
	c.write(clientFrame("two"))
	if err := raw.Control(func(fd uintptr) { err = syscall.Sendto(int(fd), []byte("!"), syscall.MSG_OOB, nil) }); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Error(err)
	}
	c.write(clientFrame("three"))
	close(resume)
	c.awaitMessage("one")
	c.awaitMessage("two")
	c.awaitMessage("three")
}

// TestEndOfAConnectionIsNoticed ends connections in several ways, from each side. The poller must stop watching each of
// them.
func TestEndOfAConnectionIsNoticed(t *testing.T) {
	for name, end := range map[string]func(*testConn){
		"the client sends a close frame": func(c *testConn) {
			closeFrame := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
			if err := c.client.WriteControl(websocket.CloseMessage, closeFrame, time.Time{}); err != nil {
				c.t.Error(err)
			}
		},
		"the client disconnects": func(c *testConn) { _ = c.client.NetConn().Close() },
		"the client disconnects after a message": func(c *testConn) {
			c.write(clientFrame("last"))
			_ = c.client.NetConn().Close()
			c.awaitMessage("last")
		},
		"the client breaks the protocol": func(c *testConn) { c.write([]byte("nonsense")) },
		"the server closes": func(c *testConn) {
			c.owner.socket.Close(CloseSlow, "too slow")
			if _, _, err := c.client.ReadMessage(); !websocket.IsCloseError(err, CloseSlow) {
				c.t.Errorf("the client gets %v, want close code %d", err, CloseSlow)
			}
		},
		"the owner closes while it handles a message, and the client does not answer": func(c *testConn) {
			onFrame := func() (bool, func()) {
				c.owner.socket.Close(CloseSlow, "too slow")
				return false, nil
			}
			c.owner.onFrame.Store(&onFrame)
			c.write(clientFrame("last"))
		},
		"the server aborts": func(c *testConn) { c.owner.socket.Abort() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachPoller(t, func(t *testing.T, s *testServer) {
				t.Parallel()
				c := s.connect()
				end(c)
				<-c.owner.left
				if s.poller.watches(c.owner.socket) {
					t.Error("the poller still watches it")
				}
			})
		})
	}
}

// TestParkingWhileAConnectionEnds ends a connection while its reader parks it. The poller must not keep the connection.
func TestParkingWhileAConnectionEnds(t *testing.T) {
	c := newTestServer(t, poll.New()).connect()
	s, p := c.owner.socket, c.server.poller.Poller
	p.Forget(reader{s}) // as if the poller had not watched it yet
	_ = s.raw.Control(func(uintptr) {
		go s.Abort()
		<-c.owner.left
		if p.Watch(reader{s}) {
			t.Error("watched after its end")
		}
	})
}

// TestConnectionsOutliveThePoller stops the poller. Each parked connection must have a reader goroutine again.
func TestConnectionsOutliveThePoller(t *testing.T) {
	s := newTestServer(t, poll.New())
	c := s.connect()
	s.stop()
	c.awaitParking(false)
	c.say("two")
}

// TestPingsAfterTheCloseAreNotReadForLong has the owner close the socket for a ping, and sends pings until the connection ends. The
// server must not have read many of them.
func TestPingsAfterTheCloseAreNotReadForLong(t *testing.T) {
	c := newTestServer(t, poll.New()).connect()
	c.owner.refuses.Store(true)
	ours, theirs := c.owner.socket.pollable.Conn.(*net.TCPConn), c.client.NetConn().(*net.TCPConn)
	if err := errors.Join(ours.SetReadBuffer(64<<10), theirs.SetWriteBuffer(64<<10)); err != nil { // so that few bytes wait in the connection
		t.Fatal(err)
	}
	pings, sent := bytes.Repeat([]byte{opPing, 0x80, 0, 0, 0, 0}, 5000), 0
	for {
		n, err := theirs.Write(pings)
		sent += n
		if err != nil {
			break
		}
	}
	if sent > 512<<10 {
		t.Errorf("the client could send %d KiB, want at most 512", sent>>10)
	}
}
