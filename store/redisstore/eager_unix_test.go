//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package redisstore

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// eagerPair is a connection by dialEager, and its other end.
func eagerPair(t *testing.T) (*eagerConn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialed, err := dialEager(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialed.Close() })
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	c, ok := dialed.(*eagerConn)
	if !ok {
		t.Skipf("a %T is read as any other: there is one processor", dialed)
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

// TestEagerTry: it takes what comes while it is awake, and gives up when nothing does.
func TestEagerTry(t *testing.T) {
	c, other := eagerPair(t)
	p := make([]byte, 64)
	began := time.Now()
	if n := c.try(p, began); n > 0 || time.Since(began) < eagerness {
		t.Fatalf("%d bytes after %v of which nobody had sent one", n, time.Since(began))
	}
	mustWrite(t, other, "here")
	for deadline := time.Now().Add(5 * time.Second); ; {
		n := c.try(p, time.Now())
		if n > 0 {
			if string(p[:n]) != "here" {
				t.Fatalf("%q", p[:n])
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not take what is there")
		}
	}
}

// countingRaw counts the tries.
type countingRaw struct {
	syscall.RawConn
	tries int
}

func (c *countingRaw) Read(f func(fd uintptr) bool) error {
	c.tries++
	return c.RawConn.Read(f)
}

// TestEagerAwake: who reads is awake when replies come soon, else asleep from the first.
func TestEagerAwake(t *testing.T) {
	c, other := eagerPair(t)
	raw := &countingRaw{RawConn: c.raw}
	c.raw = raw
	for usual, want := range map[time.Duration]int{0: 1, eagerness - 1: 1, eagerness: 0, time.Second: 0} {
		raw.tries, c.usual = 0, usual
		mustWrite(t, other, "reply")
		mustRead(t, c, "reply")
		if raw.tries != want {
			t.Errorf("replies take %v: tried %d times, want %d", usual, raw.tries, want)
		}
	}
}

// TestEagerUsual: one reply that came soon after slow ones does not make it awake.
func TestEagerUsual(t *testing.T) {
	c, other := eagerPair(t)
	c.usual = 100 * eagerness
	mustWrite(t, other, "soon")
	mustRead(t, c, "soon")
	if c.usual < eagerness {
		t.Errorf("after one of many replies it expects the next within %v", c.usual)
	}
}

// TestGrabsOptions: grabs have the dialer where it may be, and none where the driver has to do the TLS.
func TestGrabsOptions(t *testing.T) {
	for url, eager := range map[string]bool{"redis://r": true, "redis+cluster://a:1": true, "rediss://r": false, "rediss+cluster://a:1": false} {
		target, err := parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if o := target.grabsOptions(); (o.Dialer != nil) != eager || (o.TLSConfig == nil) != eager {
			t.Errorf("%s: dialer of our own: %t, TLS: %t", url, o.Dialer != nil, o.TLSConfig != nil)
		}
	}
}

// TestEagerSleeps: a reply that takes long is slept for, and the next one too; after some that came at once it is awake again.
func TestEagerSleeps(t *testing.T) {
	c, other := eagerPair(t)
	time.AfterFunc(50*time.Millisecond, func() { mustWrite(t, other, "late") })
	mustRead(t, c, "late")
	if c.usual < 20*time.Millisecond {
		t.Fatalf("replies usually take %v: the next one would be awaited awake", c.usual)
	}
	for deadline := time.Now().Add(5 * time.Second); c.usual >= eagerness; {
		mustWrite(t, other, "soon")
		mustRead(t, c, "soon")
		if time.Now().After(deadline) {
			t.Fatalf("replies usually take %v, though each is there already", c.usual)
		}
	}
}

// TestEagerEnds: awake or not, it ends and fails as any connection.
func TestEagerEnds(t *testing.T) {
	for name, usual := range map[string]time.Duration{"awake": 0, "asleep": time.Second} {
		t.Run(name, func(t *testing.T) {
			c, other := eagerPair(t)
			fails := func(want error) {
				t.Helper()
				c.usual = usual
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
