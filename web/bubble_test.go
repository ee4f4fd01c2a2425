package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs a test in a bubble of package synctest. The clock of the test and of its servers advances whenever all of them wait, so timeouts
// take no time, and a busy machine changes no verdict. Servers that the test opens listen on pipes in memory: on a TCP socket, goroutines would
// not count as waiting.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// bubbled reports whether the caller runs in a bubble of package synctest. The clocks of bubbles start with the year 2000.
func bubbled() bool { return time.Now().Year() < 2020 }

// pipeListeners holds the listeners of servers in bubbles by their addresses.
var pipeListeners sync.Map // string: *pipeListener

// pipeNumber is the port of the newest listener. The operating system gives tests that listen on TCP no port below 1024.
var pipeNumber atomic.Int64

// pipeListener accepts connections in memory.
type pipeListener struct {
	addr   string
	conns  chan net.Conn
	closed chan struct{}
}

// listenOnPipes serves clients of h over pipes in memory and returns the address for dialPipe.
func listenOnPipes(t *testing.T, h http.Handler) string {
	t.Helper()
	l := &pipeListener{addr: fmt.Sprintf("127.0.0.1:%d", pipeNumber.Add(1)), conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	pipeListeners.Store(l.addr, l)
	t.Cleanup(func() {
		pipeListeners.Delete(l.addr)
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.addr
}

// dialPipe connects to the server in a bubble that listens on addr. If none does, it returns a nil connection.
func dialPipe(addr string) (net.Conn, error) {
	found, ok := pipeListeners.Load(addr)
	if !ok {
		return nil, nil
	}
	l := found.(*pipeListener)
	near, far := bufferedPipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// dialPipeOrTCP connects to the server of a test, in a bubble or not.
func dialPipeOrTCP(network, addr string) (net.Conn, error) {
	if c, err := dialPipe(addr); c != nil || err != nil {
		return c, err
	}
	return net.Dial(network, addr)
}

// Accept implements net.Listener.
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

// Addr implements net.Listener.
func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.addr) }

type pipeAddr string

func (pipeAddr) Network() string  { return "tcp" }
func (a pipeAddr) String() string { return string(a) }

// pipeConn is one end of a buffered pipe.
type pipeConn struct{ net.Conn }

// RemoteAddr implements net.Conn. It is the address of a client on this machine: limits count by it.
func (pipeConn) RemoteAddr() net.Addr { return pipeAddr("127.0.0.1:1") }

// bufferedPipe returns the two ends of a pipe in memory. As with a TCP connection, a Write does not wait for the other end's Read.
func bufferedPipe() (near, far net.Conn) {
	near, nearInner := net.Pipe()
	far, farInner := net.Pipe()
	go copyBuffered(farInner, nearInner)
	go copyBuffered(nearInner, farInner)
	return pipeConn{near}, pipeConn{far}
}

// copyBuffered writes to out what it reads from in, until either is closed, and then closes both. The buffer is not limited.
func copyBuffered(out, in net.Conn) {
	var mu sync.Mutex
	var buffer bytes.Buffer
	more := make(chan struct{}, 1)
	go func() {
		defer close(more)
		part := make([]byte, 32<<10)
		for {
			n, err := in.Read(part)
			mu.Lock()
			buffer.Write(part[:n])
			mu.Unlock()
			if err != nil {
				return
			}
			select {
			case more <- struct{}{}:
			default:
			}
		}
	}()
	defer out.Close()
	defer in.Close()
	for open := true; open; {
		_, open = <-more
		for {
			mu.Lock()
			part := bytes.Clone(buffer.Bytes())
			buffer.Reset()
			mu.Unlock()
			if len(part) == 0 {
				break
			}
			if _, err := io.Copy(out, bytes.NewReader(part)); err != nil {
				return
			}
		}
	}
}

// TestBufferedPipeKeepsOrderUntilItIsClosed checks the pipe of inBubble itself.
func TestBufferedPipeKeepsOrderUntilItIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := bufferedPipe()
		want := strings.Repeat("0123456789", 20_000)
		for part := want; part != ""; part = part[1000:] {
			if _, err := io.WriteString(near, part[:1000]); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if err := near.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(far)
		if err != nil || string(got) != want {
			t.Errorf("%d bytes came, %v; want %d", len(got), err, len(want))
		}
		if err := far.Close(); err != nil {
			t.Error(err)
		}
	})
}
