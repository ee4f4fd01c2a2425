//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package redisstore

import (
	"context"
	"net"
	"runtime"
	"syscall"
	"time"
)

// eagerness is within what a reply has to come of late for the next one to be awaited awake. To sleep and be woken costs a
// lone caller more than that: a good part of what his grab costs Redis.
const eagerness = 60 * time.Microsecond

// dialEager dials for commands: who has sent one and reads on the connection awaits its reply.
func dialEager(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 5 * time.Minute}
	conn, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	stream, ok := conn.(*net.TCPConn)
	if !ok || runtime.GOMAXPROCS(0) == 1 {
		return conn, nil
	}
	raw, err := stream.SyscallConn()
	if err != nil {
		return conn, nil //nolint:nilerr // then it is read as any other
	}
	return &eagerConn{TCPConn: stream, raw: raw}, nil
}

// eagerConn awaits a reply awake, for a short while, as long as replies usually come soon: from a Redis nearby, to who
// asks alone. Else it is a connection as any other.
type eagerConn struct {
	*net.TCPConn

	raw   syscall.RawConn
	usual time.Duration // how long a reply takes of late
}

// Read implements net.Conn. Only one reads at a time.
func (c *eagerConn) Read(p []byte) (n int, err error) {
	began := time.Now()
	if c.usual < eagerness {
		n = c.try(p, began)
	}
	if n <= 0 {
		n, err = c.TCPConn.Read(p)
	}
	c.usual = (c.usual + time.Since(began)) / 2
	return n, err
}

// try reads until there is something, but not for long. Whatever else there is to say, that it ends or fails, is left to
// who sleeps.
func (c *eagerConn) try(p []byte, began time.Time) (n int) {
	_ = c.raw.Read(func(fd uintptr) bool {
		for {
			var err error
			n, err = syscall.Read(int(fd), p)
			if err != syscall.EAGAIN || time.Since(began) >= eagerness {
				return true
			}
		}
	})
	return n
}
