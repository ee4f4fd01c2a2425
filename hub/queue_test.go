package hub_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"hongbao/hub"
)

func TestReleaseSendsFirstThenHeldFrames(t *testing.T) {
	for _, e := range []hub.Encoding{hub.JSON, hub.Protobuf} {
		synctest.Test(t, func(t *testing.T) {
			s := newStore()
			h := start(t, s.options())
			c, session := connect(t, h, e)
			session.conn.Send([]byte("before"))
			session.conn.Hold()
			session.conn.Subscribe("room", 0, nil)
			h.Publish("room", s.commit("room", "held"))
			h.Publish("room", hub.Message{Data: []byte("unsequenced")})
			synctest.Wait()
			if got := c.received(); !slices.Equal(got, []string{"before"}) {
				t.Fatalf("while held came %q", got)
			}
			session.conn.Release([]byte("first"))
			h.Publish("room", s.commit("room", "after"))
			synctest.Wait()
			want := []string{"before", "first", "room:1:held", "room:0:unsequenced", "room:2:after"}
			if got := c.received(); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestCloseWhileHeldSendsNothingHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, newStore().options())
		c, session := connect(t, h, hub.JSON)
		session.conn.Hold()
		session.conn.Send([]byte("held"))
		session.conn.Close(3500, "invalid token")
		session.conn.Release([]byte("too late"))
		c.end(t)
		if closed := c.closeError(t); closed.Code != 3500 || len(c.received()) != 0 {
			t.Errorf("closed with %v after %q", closed, c.received())
		}
	})
}

// TestPendingPushesShareFrames queues messages while the client does not read. They must then be sent in few frames.
func TestPendingPushesShareFrames(t *testing.T) {
	for _, e := range []hub.Encoding{hub.JSON, hub.Protobuf} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, newStore().options())
			c, session := dial(t, h, e)
			session.conn.Send([]byte("alone"))
			synctest.Wait() // until the flusher blocks in its first write
			big := strings.Repeat("b", 100<<10)
			want := []string{"alone"}
			for _, payload := range []string{"1", "2", strings.Repeat("3", 300), big, "4", "5"} {
				session.conn.Send([]byte(payload))
				want = append(want, payload)
			}
			for range 40 {
				session.conn.Send([]byte(strings.Repeat("k", 3000)))
				want = append(want, strings.Repeat("k", 3000))
			}
			go c.read()
			synctest.Wait()
			if !slices.Equal(c.received(), want) {
				t.Fatalf("%d messages came, not the %d sent", len(c.received()), len(want))
			}
			if got, frames := c.frames(), []int{1, 3, 1, 23, 19}; !slices.Equal(got, frames) {
				t.Errorf("messages per frame %v, want %v", got, frames)
			}
		})
	}
}

// TestNothingFollowsTheCloseFrame overfills the queue of a connection and reads the raw bytes that it sends. The close
// frame must be the last one.
func TestNothingFollowsTheCloseFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		o.QueueBytes = 200
		h := start(t, o)
		c, session := dial(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		h.Publish("room", s.commit("room", strings.Repeat("x", 113)))
		synctest.Wait() // until the flusher blocks in a write
		h.Publish("room", s.commit("room", strings.Repeat("y", 113)))
		wire, err := io.ReadAll(c.ws.NetConn())
		noError(t, err)
		if want := "\x81xroom:1:" + strings.Repeat("x", 113) + "\x88\x0a\x0b\xc0too slow"; string(wire) != want {
			t.Errorf("the connection ended with %q, want %q", wire, want)
		}
	})
}

// TestSlowClientIsShedThenClosed queues pushes of one size for a client that does not read at first. Ten of them fit
// into the queue. Each character of fate is what must happen to one push: '+' received, '-' shed, '.' dropped because
// the connection is closed.
func TestSlowClientIsShedThenClosed(t *testing.T) {
	for _, test := range []struct {
		name   string
		held   bool   // pushes wait for Release; false: they wait because the flusher blocks with the first push
		pushes string // s: with a seq; l: without a seq
		fate   string
		slow   bool
	}{
		{"unsequenced only", false, "lllllllllllll", "++++++++++---", false},
		{"unsequenced only, held", true, "lllllllllllll", "++++++++++---", false},
		{"sequenced only", false, "ssssssssss", "++++++++++", false},
		{"unsequenced ones make room", false, "slslslslslssssslss", "+-.-.-.-.-.....-..", true},
		{"all unsequenced ones are shed at once", false, "sllsslllsssll", "+--++---+++++", false},
		{"as many as fit", false, "sllsslllsssssss", "+--++---+++++++", false},
		{"the first is being written", false, "lsssssssss", "++++++++++", false},
		{"the first is being written, and one too many", false, "lssssslsssss", "+.....-.....", true},
		{"held, unsequenced ones make room", true, "lslslslslsllsssss", "-+-+-+-+-+--+++++", false},
		{"one too many", false, "ssssssssssss", "+...........", true},
		{"held, one too many", true, "sslsssssssssl", "..-..........", true},
		{"unsequenced ones never close", false, "ssssssssssllllll", "++++++++++------", false},
	} {
		for _, e := range []hub.Encoding{hub.JSON, hub.Protobuf} {
			t.Run(test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { shedThenClose(t, e, test.held, test.pushes, test.fate, test.slow) })
			})
		}
	}
}

func shedThenClose(t *testing.T, e hub.Encoding, held bool, pushes, fate string, slow bool) {
	s := newStore()
	o := s.options()
	o.QueueBytes = 1030 // room for ten frames of 100 bytes with their headers
	h := start(t, o)
	c, session := dial(t, h, e)
	session.conn.Subscribe("room", 0, nil)
	if held {
		session.conn.Hold()
	}
	var want []string
	for i, kind := range pushes {
		m := hub.Message{Data: fmt.Appendf(nil, "%093d", i)}
		if kind == 's' {
			m = s.commit("room", fmt.Sprintf("%0*d", 94-len(fmt.Sprint(s.last("room")+1)), i))
		}
		h.Publish("room", m)
		synctest.Wait() // until the flusher blocks with the first push
		if fate[i] == '+' {
			want = append(want, fmt.Sprintf("room:%d:%s", m.Seq, m.Data))
		}
	}
	time.Sleep(4 * time.Second) // a Write may take at least five seconds
	go c.read()
	session.conn.Release(nil)
	synctest.Wait()
	if got := c.received(); !slices.Equal(got, want) {
		t.Errorf("%v: got %q, want %q", e, got, want)
	}
	stats := h.Stats()
	if shed := strings.Count(fate, "-"); stats.Shed != uint64(shed) || stats.QueuedBytes != 0 {
		t.Errorf("%v: %d shed, want %d; %d bytes left", e, stats.Shed, shed, stats.QueuedBytes)
	}
	if !slow {
		if stats.Slow != 0 || stats.Connections != 1 {
			t.Errorf("%v: closed", e)
		}
		return
	}
	if closed := c.closeError(t); closed.Code != hub.CloseSlow || stats.Slow != 1 {
		t.Errorf("%v: closed with %v, %d slow", e, closed, stats.Slow)
	}
}

// TestSlowClientThatNeverReadsIsDisconnected closes a slow connection whose client never reads, so the close frame
// waits behind a blocked Write. That Write must time out and the connection must end.
func TestSlowClientThatNeverReadsIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		o := s.options()
		o.QueueBytes = 100
		h := start(t, o)
		_, session := dial(t, h, hub.JSON)
		session.conn.Subscribe("room", 0, nil)
		for range 3 {
			h.Publish("room", s.commit("room", strings.Repeat("x", 60)))
			synctest.Wait()
		}
		time.Sleep(4 * time.Second)
		if n := h.Connections(); n != 1 {
			t.Error("it was not given time")
		}
		time.Sleep(7 * time.Second)
		if stats := h.Stats(); stats.Connections != 0 || stats.Slow != 1 || stats.Closes[hub.CloseSlow] != 1 || stats.QueuedBytes != 0 {
			t.Errorf("stats %+v", stats)
		}
		if _, _, closed := session.received(); closed != 1 {
			t.Errorf("Closed was called %d times", closed)
		}
	})
}

// TestBehindUntilRepliesAreTaken queues many replies for a client that does not read. The client must not count as
// slow. The channel of Behind must be closed only when the client has read the replies, or its connection has ended.
func TestBehindUntilRepliesAreTaken(t *testing.T) {
	for name, end := range map[string]func(c *client, conn *hub.Conn){
		"read":    func(c *client, _ *hub.Conn) { go func() { _, _ = io.Copy(io.Discard, c.ws.NetConn()) }() },
		"hung up": func(c *client, _ *hub.Conn) { _ = c.ws.Close() },
		"closed":  func(_ *client, conn *hub.Conn) { conn.Close(3001, "drain") },
	} {
		synctest.Test(t, func(t *testing.T) {
			o := newStore().options()
			o.QueueBytes = 200
			h := start(t, o)
			c, session := dial(t, h, hub.JSON)
			if session.conn.Behind() != nil {
				t.Error("behind without any reply")
			}
			for range 3 {
				session.conn.Send([]byte(strings.Repeat("x", 120)))
			}
			var caughtUp atomic.Bool
			go func() {
				<-session.conn.Behind()
				caughtUp.Store(true)
			}()
			synctest.Wait()
			if caughtUp.Load() {
				t.Fatal("Behind ended although the client has read nothing")
			}
			end(c, session.conn)
			synctest.Wait()
			if !caughtUp.Load() {
				t.Errorf("%s: Behind has not ended", name)
			}
			if got := h.Stats().Slow; got != 0 {
				t.Errorf("%d clients are counted as slow, want none", got)
			}
			_ = c.ws.Close()
		})
	}
}

// TestSlowReaderDelaysNoOther connects 101 clients over real sockets, one of which does not read. That connection must
// be closed with 3008; the other clients must receive everything.
func TestSlowReaderDelaysNoOther(t *testing.T) {
	s := newStore()
	o := s.options()
	o.QueueBytes = 128 << 10
	h := start(t, o)
	var fast []*client
	accept := listen(t, h, 8<<10)
	for range 100 {
		c := accept()
		go c.read()
		fast = append(fast, c)
	}
	slow := accept()
	eventually(t, "all to subscribe", func() bool { return h.Listeners("room") == 101 })

	text := strings.Repeat("x", 2000)
	send := func() {
		m := s.commit("room", text)
		h.Publish("room", m)
		eventually(t, "the fast ones to have it", func() bool {
			for _, c := range fast {
				c.mu.Lock()
				n := len(c.got)
				c.mu.Unlock()
				if n < int(m.Seq) {
					return false
				}
			}
			return true
		})
	}
	for h.Stats().Slow == 0 {
		send()
	}
	go slow.read()
	slow.end(t)
	if closed := slow.closeError(t); closed.Code != hub.CloseSlow || closed.Text != "too slow" {
		t.Errorf("the slow client was closed with %v, want 3008", closed)
	}
	wantSeqs(t, "slow", "room", slow.received(), 1, int64(len(slow.received())))
	for _, c := range fast {
		wantSeqs(t, "fast", "room", c.received(), 1, s.last("room"))
	}
}

// listen returns a function that connects a client over TCP. The client is subscribed to "room" and does not read at
// first. The kernel buffers about sendBuffer bytes for it.
func listen(t testing.TB, h *hub.Hub, sendBuffer int) func() *client {
	return listenFor(t, h, sendBuffer, newSession)
}

// listenFor is listen with the given constructor of Handlers.
func listenFor(t testing.TB, h *hub.Hub, sendBuffer int, handler func(*hub.Conn) hub.Handler) func() *client {
	upgrader := websocket.Upgrader{ReadBufferSize: 512, WriteBufferPool: &sync.Pool{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		ws.NetConn().(*net.TCPConn).SetWriteBuffer(sendBuffer)
		h.Attach(ws, hub.JSON, handler).Subscribe("room", 0, nil)
	}))
	t.Cleanup(server.Close)
	dialer := websocket.Dialer{NetDial: func(network, addr string) (net.Conn, error) {
		conn, err := net.DialTimeout(network, addr, time.Second)
		if err == nil {
			conn.(*net.TCPConn).SetReadBuffer(sendBuffer)
		}
		return conn, err
	}}
	return func() *client {
		ws, _, err := dialer.Dial("ws"+strings.TrimPrefix(server.URL, "http"), nil)
		noError(t, err)
		t.Cleanup(func() { ws.Close() })
		return &client{ws: ws, done: make(chan struct{})}
	}
}

// TestRepliesOfAllConnectionsAreBounded queues replies for clients that do not read. Beyond half of the bound, each of them must be
// behind, but not a client without replies. Beyond the bound, the client with the most must be disconnected.
func TestRepliesOfAllConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newStore().options()
		o.ReplyBytes = 1000
		h := start(t, o)
		var conns []*hub.Conn
		for range 3 {
			_, session := dial(t, h, hub.JSON)
			conns = append(conns, session.conn)
		}
		behind := func() (which [3]bool) {
			for i, c := range conns {
				which[i] = c.Behind() != nil
			}
			return which
		}
		conns[0].Send([]byte(strings.Repeat("x", 300)))
		if got := behind(); got != [3]bool{} {
			t.Errorf("behind %v with 300 bytes, want none", got)
		}
		conns[1].Send([]byte(strings.Repeat("x", 500)))
		if got := behind(); got != [3]bool{true, true, false} {
			t.Errorf("behind %v with 800 bytes, want those with replies", got)
		}
		time.Sleep(time.Second)
		if n := h.Connections(); n != 3 {
			t.Errorf("%d connections within the bound, want 3", n)
		}
		conns[2].Send([]byte(strings.Repeat("x", 400)))
		time.Sleep(time.Second)
		if stats := h.Stats(); stats.Connections != 2 || stats.Slow != 1 || stats.QueuedBytes < 700 || stats.QueuedBytes > 720 {
			t.Errorf("beyond the bound: %+v, want the connection with 500 bytes closed", stats)
		}
		if got := behind(); got != [3]bool{true, false, true} {
			t.Errorf("behind %v, want those that are left", got)
		}
	})
}
