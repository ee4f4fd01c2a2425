package hubtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// pipeListeners holds the open listeners by their addresses.
var pipeListeners sync.Map // string: *PipeListener

// pipePort is the port of the newest listener. The operating system gives servers of tests no port below 1024, so the addresses differ from theirs.
var pipePort atomic.Int64

// PipeListener accepts connections in memory. A test in a bubble of package synctest needs it: goroutines that wait on a TCP socket do not
// count as waiting, so the bubble's clock would stand still.
type PipeListener struct {
	addr   pipeAddr
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// ListenOnPipe returns a listener with an address of its own. DialPipe connects to it.
func ListenOnPipe() *PipeListener {
	l := &PipeListener{addr: pipeAddr(fmt.Sprintf("127.0.0.1:%d", pipePort.Add(1))), conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() {
		pipeListeners.Delete(l.addr.String())
		close(l.closed)
	})
	pipeListeners.Store(l.addr.String(), l)
	return l
}

// Accept implements net.Listener.
func (l *PipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *PipeListener) Close() error {
	l.close()
	return nil
}

// Addr implements net.Listener.
func (l *PipeListener) Addr() net.Addr { return l.addr }

// DialPipe connects to the PipeListener with this address. If there is none, it connects over the network.
func DialPipe(ctx context.Context, network, addr string) (net.Conn, error) {
	found, ok := pipeListeners.Load(addr)
	if !ok {
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	l := found.(*PipeListener)
	near, far := BufferedPipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type pipeAddr string

func (pipeAddr) Network() string  { return "tcp" }
func (a pipeAddr) String() string { return string(a) }

// pipeConn is one end of a buffered pipe.
type pipeConn struct{ net.Conn }

// RemoteAddr implements net.Conn. It is the address of a client on this machine: limits count by it.
func (pipeConn) RemoteAddr() net.Addr { return pipeAddr("127.0.0.1:1") }

// BufferedPipe returns the two ends of a pipe in memory. As with a TCP connection, a Write does not wait for the other end's Read.
func BufferedPipe() (near, far net.Conn) {
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
	defer out.Close() //nolint:errcheck // both ends are given up
	defer in.Close()  //nolint:errcheck // both ends are given up
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

// Bubbled reports whether the caller runs in a bubble of package synctest. The clocks of bubbles start with the year 2000.
func Bubbled() bool { return time.Now().Year() < 2020 }

// Test is the part of a *testing.T that ServeOnPipe needs.
type Test interface {
	Helper()
	Cleanup(f func())
	Error(args ...any)
}

// ServeOnPipe serves clients of h over pipes in memory and returns the address for DialPipe.
func ServeOnPipe(tb Test, h http.Handler) (addr string) {
	tb.Helper()
	l := ListenOnPipe()
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	tb.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			tb.Error(err)
		}
	})
	return l.Addr().String()
}
