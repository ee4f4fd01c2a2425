//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package nodes

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// spinPair returns a connection by dialSpinning and its other end.
func spinPair(t *testing.T) (*spinConn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialed, err := dialSpinning(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialed.Close() })
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	c, ok := dialed.(*spinConn)
	if !ok {
		t.Skipf("a %T does not spin: there is one processor", dialed)
	}
	return c, other
}

func mustRead(t *testing.T, c net.Conn, want string) {
	t.Helper()
	p := make([]byte, 64)
	if n, err := c.Read(p); err != nil || string(p[:n]) != want {
		t.Fatalf("read %q, %v; want %q", p[:n], err, want)
	}
}

func mustWrite(t *testing.T, c net.Conn, what string) {
	t.Helper()
	if _, err := io.WriteString(c, what); err != nil {
		t.Error(err)
	}
}

// TestSpinReadsAvailableReply checks that spinning returns data that arrives, and ends when none does.
func TestSpinReadsAvailableReply(t *testing.T) {
	c, other := spinPair(t)
	p := make([]byte, 64)
	began := time.Now()
	if n := c.spin(p, began); n > 0 || time.Since(began) < spinLimit {
		t.Fatalf("read %d bytes after %v, want none and a full spin", n, time.Since(began))
	}
	mustWrite(t, other, "here")
	for deadline := time.Now().Add(5 * time.Second); ; {
		n := c.spin(p, time.Now())
		if n > 0 {
			if string(p[:n]) != "here" {
				t.Fatalf("%q", p[:n])
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the spin does not read available data")
		}
	}
}

// countingRawConn counts the spins.
type countingRawConn struct {
	syscall.RawConn
	spins int
}

func (c *countingRawConn) Read(f func(fd uintptr) bool) error {
	c.spins++
	return c.RawConn.Read(f)
}

// TestSpinsOnlyAfterFastReplies checks that a read spins while replies are fast, and blocks at once otherwise.
func TestSpinsOnlyAfterFastReplies(t *testing.T) {
	c, other := spinPair(t)
	raw := &countingRawConn{RawConn: c.raw}
	c.raw = raw
	for replyTime, want := range map[time.Duration]int{0: 1, spinLimit - 1: 1, spinLimit: 0, time.Second: 0} {
		raw.spins, c.replyTime = 0, replyTime
		mustWrite(t, other, "reply")
		mustRead(t, c, "reply")
		if raw.spins != want {
			t.Errorf("replies take %v: spun %d times, want %d", replyTime, raw.spins, want)
		}
	}
}

// TestOneFastReplyDoesNotStartSpinning checks that one fast reply after slow ones does not start spinning.
func TestOneFastReplyDoesNotStartSpinning(t *testing.T) {
	c, other := spinPair(t)
	c.replyTime = 100 * spinLimit
	mustWrite(t, other, "soon")
	mustRead(t, c, "soon")
	if c.replyTime < spinLimit {
		t.Errorf("after one fast reply the average is %v", c.replyTime)
	}
}

// TestGrabsOptions checks that grabs use the spinning dialer, except with TLS, which the driver's dialer does.
func TestGrabsOptions(t *testing.T) {
	for url, spinning := range map[string]bool{"redis://r": true, "redis+cluster://a:1": true, "rediss://r": false, "rediss+cluster://a:1": false} {
		target, err := Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if o := target.grabsOptions(); (o.Dialer != nil) != spinning || (o.TLSConfig == nil) != spinning {
			t.Errorf("%s: custom dialer: %t, TLS: %t", url, o.Dialer != nil, o.TLSConfig != nil)
		}
	}
}

// TestSlowReplyStopsSpinning checks that a slow reply stops spinning, and that fast replies start it again.
func TestSlowReplyStopsSpinning(t *testing.T) {
	c, other := spinPair(t)
	time.AfterFunc(50*time.Millisecond, func() { mustWrite(t, other, "late") })
	mustRead(t, c, "late")
	if c.replyTime < 20*time.Millisecond {
		t.Fatalf("after a slow reply the average is %v: the next read would spin", c.replyTime)
	}
	for deadline := time.Now().Add(5 * time.Second); c.replyTime >= spinLimit; {
		mustWrite(t, other, "soon")
		mustRead(t, c, "soon")
		if time.Now().After(deadline) {
			t.Fatalf("the average stays %v although each reply is available", c.replyTime)
		}
	}
}

// TestSpinConnReportsErrors checks that the end of the stream and errors are returned, spinning or not.
func TestSpinConnReportsErrors(t *testing.T) {
	for name, replyTime := range map[string]time.Duration{"spinning": 0, "blocking": time.Second} {
		t.Run(name, func(t *testing.T) {
			c, other := spinPair(t)
			fails := func(want error) {
				t.Helper()
				c.replyTime = replyTime
				if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, want) {
					t.Fatalf("%d, %v; want %v", n, err, want)
				}
			}
			c.SetReadDeadline(time.Now().Add(-time.Second))
			fails(os.ErrDeadlineExceeded)
			c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			fails(os.ErrDeadlineExceeded)
			c.SetReadDeadline(time.Time{})
			other.Close()
			fails(io.EOF)
			c.Close()
			fails(net.ErrClosed)
		})
	}
}
