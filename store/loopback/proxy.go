package loopback

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// Proxy carries TCP to one address, and loses bytes when told to. What a connection lost is never made good, as on a
// broken line: the direction in which it lost something carries nothing any more until both ends have hung up.
type Proxy struct {
	// static after StartProxy
	listener net.Listener
	target   string
	running  sync.WaitGroup

	swallow, dropReplies atomic.Bool

	mu     sync.Mutex // guards what follows
	open   map[net.Conn]struct{}
	closed bool
}

// StartProxy listens on a free port for connections to the target, given as host:port. Nobody needs to be there yet.
func StartProxy(target string) (*Proxy, error) {
	var config net.ListenConfig
	l, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, open: map[net.Conn]struct{}{}}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is where it listens, as host:port.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Swallow loses what either side sends, as a line does that is cut somewhere: connections are accepted and stay open.
func (p *Proxy) Swallow(on bool) { p.swallow.Store(on) }

// DropReplies loses what the target sends. It still gets, and does, what it is asked.
func (p *Proxy) DropReplies(on bool) { p.dropReplies.Store(on) }

// Cut closes all connections. New ones are accepted.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		_ = c.Close() // it is given up
	}
}

// Close closes all connections and accepts no more. It can be called twice.
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

// serve carries one connection until either side hangs up.
func (p *Proxy) serve(client net.Conn) {
	defer p.drop(client)
	if !p.keep(client) {
		return
	}
	var dialer net.Dialer
	server, err := dialer.DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		return
	}
	defer p.drop(server)
	if !p.keep(server) {
		return
	}
	var requests sync.WaitGroup
	requests.Go(func() { p.carry(server, client, func() bool { return p.swallow.Load() }) })
	p.carry(client, server, func() bool { return p.swallow.Load() || p.dropReplies.Load() })
	requests.Wait()
}

// carry moves bytes until one end fails, and then hangs up on both.
func (p *Proxy) carry(to, from net.Conn, losing func() bool) {
	defer to.Close()   //nolint:errcheck // it is given up
	defer from.Close() //nolint:errcheck // it is given up
	buf := make([]byte, 32<<10)
	for lost := false; ; {
		n, err := from.Read(buf)
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

// keep makes the connection one that Cut closes, unless there are none any more.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = struct{}{}
	}
	return !p.closed
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	_ = c.Close()
}
