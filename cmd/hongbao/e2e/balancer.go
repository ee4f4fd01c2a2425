package e2e

import (
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
)

// Balancer is a TCP load balancer: each connection goes to the next target that accepts it.
type Balancer struct {
	Front *Server   // the balancer as a server to which clients connect
	Slow  *SlowLink // nil: bytes are forwarded at once

	listener net.Listener
	next     atomic.Int64

	mu      sync.Mutex
	targets []string              // guarded by mu
	open    map[net.Conn]struct{} // guarded by mu; both connections of each client
	closed  bool                  // guarded by mu; new connections are closed at once
}

// StartBalancer starts a balancer without targets. It ends with the test.
func StartBalancer(t *testing.T) *Balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	NoError(t, err)
	b := &Balancer{listener: l, open: map[net.Conn]struct{}{}}
	b.Front = &Server{t: t, URL: &url.URL{Scheme: "http", Host: b.Addr(), Path: "/"}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { b.forward(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		b.mu.Lock()
		b.closed = true
		b.mu.Unlock()
		b.Cut(1)
		all.Wait()
	})
	return b
}

// Addr returns the address that the balancer listens on.
func (b *Balancer) Addr() string { return b.listener.Addr().String() }

// Add adds a target for new connections.
func (b *Balancer) Add(target *Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.targets = append(b.targets, target.URL.Host)
}

// Only makes new connections go to these servers and to no others.
func (b *Balancer) Only(servers ...*Server) {
	var hosts []string
	for _, s := range servers {
		hosts = append(hosts, s.URL.Host)
	}
	b.OnlyTo(hosts...)
}

// OnlyTo makes new connections go to these addresses and to no others. Without addresses, new connections are closed at once.
func (b *Balancer) OnlyTo(hosts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.targets = hosts
}

// Cut closes every n-th of the open connections.
func (b *Balancer) Cut(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := 0
	for conn := range b.open {
		if i++; i%n == 0 {
			_ = conn.Close()
		}
	}
}

// forward copies bytes in both directions until one side closes.
func (b *Balancer) forward(client net.Conn) {
	server := b.dial()
	if server == nil {
		_ = client.Close()
		return
	}
	b.mu.Lock()
	b.open[client], b.open[server] = struct{}{}, struct{}{}
	if b.closed {
		_ = client.Close()
		_ = server.Close()
	}
	b.mu.Unlock()
	var both sync.WaitGroup
	move := func(to, from net.Conn) {
		if b.Slow != nil {
			b.Slow.copy(to, from)
		} else {
			_, _ = io.Copy(to, from)
		}
		_ = to.Close()
		_ = from.Close()
	}
	both.Go(func() { move(server, client) })
	move(client, server)
	both.Wait()
	b.mu.Lock()
	delete(b.open, client)
	delete(b.open, server)
	b.mu.Unlock()
}

// dial tries each target once. It returns nil if none accepts.
func (b *Balancer) dial() net.Conn {
	b.mu.Lock()
	targets := b.targets
	b.mu.Unlock()
	for range targets {
		conn, err := net.Dial("tcp", targets[int(b.next.Add(1))%len(targets)])
		if err == nil {
			return conn
		}
	}
	return nil
}
