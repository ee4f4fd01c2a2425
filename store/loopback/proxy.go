package loopback

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy forwards TCP connections to one address, and delays or loses bytes when told to. Lost bytes are never sent
// later. A direction of a connection that has lost bytes loses all later bytes, too, until the connection is closed.
type Proxy struct {
	// immutable after StartProxy
	listener net.Listener
	requests func(to, from net.Conn, tears int64) // forwards the bytes that clients send
	running  sync.WaitGroup

	swallow, dropReplies atomic.Bool
	delay                atomic.Int64 // a time.Duration
	tears                atomic.Int64 // number of calls of Tear
	passes               atomic.Int64 // bytes that clients can send before the proxy swallows; 0: all

	mu     sync.Mutex // guards the fields below
	target string
	open   map[net.Conn]struct{}
	closed bool
}

// StartProxy listens on a free port, and forwards connections to the target, a host:port that need not listen yet.
func StartProxy(target string) (*Proxy, error) {
	p := &Proxy{target: target, open: map[net.Conn]struct{}{}}
	p.requests = func(to, from net.Conn, tears int64) { p.carry(counted{to, p}, from, tears, p.swallow.Load) }
	return p, p.start()
}

func (p *Proxy) start() error {
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.listener = l
	p.running.Go(p.accept)
	return nil
}

// Addr returns the address that the proxy listens on, as host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Swallow makes the proxy lose all bytes in both directions, as a cut cable does. Connections are accepted and stay
// open.
func (p *Proxy) Swallow(on bool) { p.swallow.Store(on) }

// SwallowAfter calls Swallow(true) when clients have sent so many bytes more, over all connections together.
func (p *Proxy) SwallowAfter(bytes int64) { p.passes.Store(bytes) }

// counted is a connection to the target.
type counted struct {
	net.Conn
	proxy *Proxy
}

func (c counted) Write(b []byte) (int, error) {
	if passes := &c.proxy.passes; passes.Load() > 0 && passes.Add(-int64(len(b))) <= 0 {
		c.proxy.Swallow(true)
	}
	return c.Conn.Write(b)
}

// DropReplies makes the proxy lose all bytes that the target sends. The target still receives requests and executes
// them.
func (p *Proxy) DropReplies(on bool) { p.dropReplies.Store(on) }

// Delay makes the proxy forward each read's bytes this much later, in both directions. So it also limits the rate.
func (p *Proxy) Delay(by time.Duration) { p.delay.Store(int64(by)) }

// Tear breaks each open connection in the middle of a message: of the next bytes in one of the directions, only the
// first half is forwarded, and then the connection is closed.
func (p *Proxy) Tear() { p.tears.Add(1) }

// Retarget makes new connections go to another address. Open ones stay.
func (p *Proxy) Retarget(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Cut closes all connections. New ones are accepted and forwarded.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close() // the connection is not used any more
	}
}

// Close closes all connections and accepts no more. It may be called twice.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.Cut()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve forwards one connection until either side closes it.
func (p *Proxy) serve(client net.Conn) {
	defer p.drop(client)
	tears := p.tears.Load() // read before the target accepts, so that a later Tear breaks this connection
	target, ok := p.register(client)
	if !ok {
		return
	}
	var dialer net.Dialer
	server, err := dialer.DialContext(context.Background(), "tcp", target)
	if err != nil {
		return
	}
	defer p.drop(server)
	if _, ok := p.register(server); !ok {
		return
	}
	var requests sync.WaitGroup
	requests.Go(func() { p.requests(server, client, tears) })
	p.carry(client, server, tears, func() bool { return p.swallow.Load() || p.dropReplies.Load() })
	requests.Wait()
}

// carry forwards bytes of one direction until either end fails, and then closes both. While losing is true, bytes are
// lost. tears is how often Tear was called before the connection was made.
func (p *Proxy) carry(to, from net.Conn, tears int64, losing func() bool) {
	defer to.Close()   //nolint:errcheck // the connection is not used any more
	defer from.Close() //nolint:errcheck // the connection is not used any more
	buf := make([]byte, 32<<10)
	for lost := false; ; {
		n, err := from.Read(buf)
		if by := p.delay.Load(); by > 0 {
			time.Sleep(time.Duration(by)) // sleeps: the delay is what Delay is for
		}
		if p.tears.Load() != tears && n > 1 {
			_, _ = to.Write(buf[:n/2]) // the connection is closed next in any case
			return
		}
		lost = lost || losing()
		if n > 0 && !lost {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// register remembers a connection, so that Cut can close it. It returns the target, and false if the proxy is closed.
func (p *Proxy) register(c net.Conn) (target string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = struct{}{}
	}
	return p.target, !p.closed
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	_ = c.Close()
}
