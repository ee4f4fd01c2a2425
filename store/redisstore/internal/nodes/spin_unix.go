//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package nodes

import (
	"context"
	"net"
	"runtime"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// spinLimit is how long a connection polls for a reply before it sleeps. It polls only while recent replies took less
// than this on average. For a caller with one grab at a time, sleeping and waking up is a large part of a grab's
// cost.
const spinLimit = 60 * time.Microsecond

var plainDial = redis.NewDialer(&redis.Options{DialTimeout: dialTimeout})

// dialSpinning dials a connection that polls for replies. It is for connections on which each read waits for a reply.
func dialSpinning(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := plainDial(ctx, network, addr)
	stream, ok := conn.(*net.TCPConn)
	if err != nil || !ok || runtime.GOMAXPROCS(0) == 1 {
		return conn, err
	}
	raw, err := stream.SyscallConn()
	if err != nil {
		return conn, nil //nolint:nilerr // then the connection does not spin
	}
	return &spinConn{TCPConn: stream, raw: raw}, nil
}

// spinConn polls for a reply for a short time before it sleeps, while recent replies came fast. That is the case with
// a Redis nearby and one caller without pauses. Otherwise it behaves like its TCP connection.
type spinConn struct {
	*net.TCPConn

	raw       syscall.RawConn
	replyTime time.Duration // moving average of how long a read has waited for a reply
}

// Read implements net.Conn. It must not be called concurrently.
func (c *spinConn) Read(p []byte) (n int, err error) {
	began := time.Now()
	if c.replyTime < spinLimit {
		n = c.spin(p, began)
	}
	if n <= 0 {
		n, err = c.TCPConn.Read(p)
	}
	c.replyTime = (c.replyTime + time.Since(began)) / 2
	return n, err
}

// spin polls until there is data or spinLimit has passed. It hides the end of the stream and errors, because the
// blocking read that follows returns them.
func (c *spinConn) spin(p []byte, began time.Time) (n int) {
	_ = c.raw.Read(func(fd uintptr) bool {
		for {
			var err error
			n, err = syscall.Read(int(fd), p)
			if err != syscall.EAGAIN || time.Since(began) >= spinLimit {
				return true
			}
		}
	})
	return n
}
