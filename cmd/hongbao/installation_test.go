package main

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// installation is several servers over one Redis and one Postgres, and the door that their clients come through.
type installation struct {
	t      *testing.T
	binary string
	redis  *loopback.Redis
	nodes  []*node
	door   *door

	variables []string // of each server
}

// install starts as many servers as there are lists of variables that one of them has besides the common ones.
func install(t *testing.T, binary string, redis *loopback.Redis, database string, each ...[]string) *installation {
	t.Helper()
	i := &installation{t: t, binary: binary, redis: redis, door: openDoor(t), variables: []string{
		"HONGBAO_REDIS_URL=" + redis.URL(), "HONGBAO_DATABASE_URL=" + database,
		"HONGBAO_JWT_SECRET=one secret for all instances, as it must be", "HONGBAO_GUESTS=local",
	}}
	i.door.facade = &node{t: t, binary: binary, url: i.door.url(), variables: i.variables}
	for _, own := range each {
		i.start(own...)
	}
	return i
}

// start adds a server. What is set twice counts as it was set last.
func (i *installation) start(own ...string) *node {
	i.t.Helper()
	n := start(i.t, i.binary, "", "127.0.0.1:0", append(append([]string{}, i.variables...), own...)...)
	i.nodes = append(i.nodes, n)
	i.door.add(n.url.Host)
	return n
}

// place is what clients and auditors see: any of the servers.
func (i *installation) place() *node { return i.door.facade }

// freeze stops processes without their noticing, and lets them go on.
func freeze(t *testing.T, nodes ...*node) (thaw func()) {
	t.Helper()
	signal := func(s syscall.Signal) {
		for _, n := range nodes {
			_ = n.cmd.Process.Signal(s)
		}
	}
	signal(syscall.SIGSTOP)
	thaw = sync.OnceFunc(func() { signal(syscall.SIGCONT) })
	t.Cleanup(thaw)
	return thaw
}

// door is a load balancer: each connection goes to the next server that takes it.
type door struct {
	t        *testing.T
	listener net.Listener
	facade   *node
	next     atomic.Int64
	thin     *thinLine // what all bytes go through; nil: they go at once

	mu      sync.Mutex
	targets []string              // guarded by mu
	open    map[net.Conn]struct{} // guarded by mu; both sides of what is connected
}

func openDoor(t *testing.T) *door {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{t: t, listener: l, open: map[net.Conn]struct{}{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { d.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		d.cut(1)
		all.Wait()
	})
	return d
}

func (d *door) url() *url.URL {
	return &url.URL{Scheme: "http", Host: d.listener.Addr().String(), Path: "/"}
}

// add leads clients to one more server.
func (d *door) add(host string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.targets = append(d.targets, host)
}

// only leads those who come from now on to these servers.
func (d *door) only(nodes ...*node) {
	var hosts []string
	for _, n := range nodes {
		hosts = append(hosts, n.url.Host)
	}
	d.lead(hosts...)
}

// lead leads those who come from now on to these addresses.
func (d *door) lead(hosts ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.targets = hosts
}

// serve carries bytes until one side has had enough.
func (d *door) serve(client net.Conn) {
	server := d.dial()
	if server == nil {
		_ = client.Close()
		return
	}
	d.mu.Lock()
	d.open[client], d.open[server] = struct{}{}, struct{}{}
	d.mu.Unlock()
	var both sync.WaitGroup
	carry := func(to, from net.Conn) {
		if d.thin != nil {
			d.thin.carry(to, from)
		} else {
			_, _ = io.Copy(to, from)
		}
		_ = to.Close()
		_ = from.Close()
	}
	both.Go(func() { carry(server, client) })
	carry(client, server)
	both.Wait()
	d.mu.Lock()
	delete(d.open, client)
	delete(d.open, server)
	d.mu.Unlock()
}

// dial tries each server once.
func (d *door) dial() net.Conn {
	d.mu.Lock()
	targets := d.targets
	d.mu.Unlock()
	for range targets {
		conn, err := net.Dial("tcp", targets[int(d.next.Add(1))%len(targets)])
		if err == nil {
			return conn
		}
	}
	return nil
}

// cut ends one of every n connections, in the midst of whatever they carry.
func (d *door) cut(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := 0
	for conn := range d.open {
		if i++; i%n == 0 {
			_ = conn.Close()
		}
	}
}

// privateRedis is a Redis of the test's own, with more arguments for it.
func privateRedis(t *testing.T, args ...string) *loopback.Redis {
	t.Helper()
	if len(args) == 0 {
		return storetest.Redis(t)
	}
	dir := filepath.Join(t.TempDir(), "redis")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := loopback.StartRedis(t.Context(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r
}

// three are the variables of three servers that differ in nothing.
func three() [][]string { return make([][]string, 3) }
