package poll

import (
	"context"
	"syscall"
)

// Conn is a connection that a Poller can watch. The poller calls the methods on a goroutine that serves many
// connections. So no method may block on the network, a client or a store.
type Conn interface {
	// Descriptor returns the connection's socket. raw.Control keeps the file descriptor open while its function runs.
	Descriptor() (raw syscall.RawConn, fd int)
	// Closing reports whether the connection is about to end. A closing connection must not be parked.
	Closing() bool
	// Claim takes a parked connection from the poller, so that the caller may read it. It returns false if the
	// connection is not parked: then a goroutine of its own reads it.
	Claim() bool
	// Park gives a claimed connection back to the poller. It returns false if the connection is about to end: then the
	// caller must start a reader goroutine.
	Park() bool
	// TryHandle handles data that the poller has read from a claimed connection. data is valid only during the call.
	// complete means that the socket had no more data. If needsGoroutine is nil, the connection is parked again.
	// Otherwise the poller runs needsGoroutine on a new goroutine, which may block and reads the connection until it is
	// parked again or ends. flush means that the poller must call Flush.
	TryHandle(data []byte, complete bool) (flush bool, needsGoroutine func())
	// StartReader starts a goroutine that reads the claimed connection.
	StartReader()
	// Flush writes the queued data, as far as the socket accepts it without blocking.
	Flush()
}

// Poller watches parked connections, which have no reading goroutine, until data arrives for them.
type Poller interface {
	// Run serves parked connections until ctx is done. It may be called again after it returns.
	Run(ctx context.Context)
	// Watch starts watching a connection that its reader has just parked. If it returns false, the connection is not
	// watched: the reader must claim it and continue to read.
	Watch(c Conn) bool
	// Forget stops watching a connection that has ended.
	Forget(c Conn)
}

// Goroutines is a Poller that works on all systems. It watches nothing: each connection keeps its reading goroutine.
type Goroutines struct{}

// Run implements Poller. It returns at once.
func (Goroutines) Run(context.Context) {}

// Watch implements Poller. It returns false: the connection's own goroutine must go on reading.
func (Goroutines) Watch(Conn) bool { return false }

// Forget implements Poller. It does nothing.
func (Goroutines) Forget(Conn) {}
