package poll

import (
	"context"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fakeConn is a parked connection that records the calls of its poller.
type fakeConn struct {
	raw syscall.RawConn
	fd  int

	mu      sync.Mutex
	parked  bool
	closing bool

	handled chan string
	readers chan struct{}
}

func (c *fakeConn) Descriptor() (raw syscall.RawConn, fd int) { return c.raw, c.fd }

func (c *fakeConn) Closing() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing
}

func (c *fakeConn) Claim() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	parked := c.parked
	c.parked = false
	return parked
}

func (c *fakeConn) Park() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parked = true
	return true
}

func (c *fakeConn) TryHandle(data []byte, _ bool) (flush bool, needsGoroutine func()) {
	c.handled <- string(data)
	if string(data) == "wait" {
		return false, c.StartReader
	}
	c.Park()
	return true, nil
}

func (c *fakeConn) StartReader() { c.readers <- struct{}{} }
func (c *fakeConn) Flush()       { c.handled <- "flush" }

// newFakeConn returns a parked connection over TCP, and the other end of that TCP connection.
func newFakeConn(t *testing.T) (*fakeConn, net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	peer, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = peer.Close()
		_ = conn.Close()
	})
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	c := &fakeConn{raw: raw, parked: true, handled: make(chan string, 10), readers: make(chan struct{}, 10)}
	_ = raw.Control(func(fd uintptr) { c.fd = int(fd) })
	return c, peer
}

// runEpoll runs an epoll poller until stop is called.
func runEpoll(t *testing.T) (p *Epoll, stop func()) {
	t.Helper()
	p = NewEpoll()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		p.Run(ctx)
		close(ended)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return p, stop
}

// watch has the poller watch the connection. If the poller's loops have not started yet, it waits for them.
func watch(t *testing.T, p *Epoll, c Conn) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !p.Watch(c); {
		if time.Now().After(deadline) {
			t.Fatal("the poller does not watch the connection")
		}
		<-time.After(time.Millisecond)
	}
}

func await[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(2 * time.Minute):
		t.Fatalf("%s did not happen", what)
		panic("unreachable")
	}
}

func TestEpollHandlesWhatArrives(t *testing.T) {
	p, _ := runEpoll(t)
	c, peer := newFakeConn(t)
	if _, err := peer.Write([]byte("before")); err != nil {
		t.Fatal(err)
	}
	watch(t, p, c)
	for _, text := range []string{"before", "after"} {
		if text != "before" {
			if _, err := peer.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []string{text, "flush"} {
			if got := await(t, want, c.handled); got != want {
				t.Errorf("handled %q, want %q", got, want)
			}
		}
	}
	if _, err := peer.Write([]byte("wait")); err != nil {
		t.Fatal(err)
	}
	await(t, "TryHandle", c.handled)
	await(t, "the goroutine that TryHandle needs", c.readers)
}

func TestEpollGivesTheEndToAReader(t *testing.T) {
	p, _ := runEpoll(t)
	c, peer := newFakeConn(t)
	watch(t, p, c)
	_ = peer.Close()
	await(t, "a reader", c.readers)
}

func TestEpollIgnoresClaimedConnections(t *testing.T) {
	p, _ := runEpoll(t)
	c, peer := newFakeConn(t)
	watch(t, p, c)
	c.Claim()
	if _, err := peer.Write([]byte("text")); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-c.handled:
		t.Errorf("%q was handled", text)
	case <-c.readers:
		t.Error("a second reader was started")
	case <-time.After(50 * time.Millisecond):
	}
}

func TestEpollForgets(t *testing.T) {
	p, _ := runEpoll(t)
	c, _ := newFakeConn(t)
	watch(t, p, c)
	p.Forget(c)
	if l := p.loopOf(c.fd); l.connOf(c.fd) != nil {
		t.Error("a forgotten connection is still watched")
	}
	c.closing = true
	if p.Watch(c) {
		t.Error("a closing connection is watched")
	}
	if l := p.loopOf(c.fd); l.connOf(c.fd) != nil {
		t.Error("a closing connection is kept")
	}
}

func TestEpollReleasesParkedConnections(t *testing.T) {
	p, stop := runEpoll(t)
	c, _ := newFakeConn(t)
	watch(t, p, c)
	stop()
	await(t, "a reader", c.readers)
	if p.Watch(c) {
		t.Error("a poller that has ended watches a connection")
	}
}
