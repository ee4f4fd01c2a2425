//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package redisstore

import (
	"context"
	"net"
	"runtime"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// eagerness is within what a reply has to come of late for the next one to be awaited awake. To sleep and be woken is a good
// part of what a grab costs him who sends one after the other.
const eagerness = 60 * time.Microsecond

var plainDial = redis.NewDialer(&redis.Options{DialTimeout: dialTimeout})

// dialEager dials for commands: who has sent one and reads on the connection awaits its reply.
func dialEager(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := plainDial(ctx, network, addr)
	stream, ok := conn.(*net.TCPConn)
	if err != nil || !ok || runtime.GOMAXPROCS(0) == 1 {
		return conn, err
	}
	raw, err := stream.SyscallConn()
	if err != nil {
		return conn, nil //nolint:nilerr // then it is read as any other
	}
	return &eagerConn{TCPConn: stream, raw: raw}, nil
}

// eagerConn awaits a reply awake, for a short while, as long as replies usually come soon: from a Redis nearby, to who
// asks alone and without a pause. Else it is a connection as any other.
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

// try reads until there is something, but not for long. That it ends or fails, too, is left to him to find who sleeps.
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
