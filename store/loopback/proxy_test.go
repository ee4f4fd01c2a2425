package loopback

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

func TestProxyCarriesBothWays(t *testing.T) {
	p, there := startProxyT(t)
	here, far := dialThrough(t, p, there)
	send(t, here, "question")
	receive(t, far, "question")
	send(t, far, "answer")
	receive(t, here, "answer")
	_ = far.Close()
	if _, err := here.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a closed connection is seen as %v", err)
	}
}

func TestProxySwallows(t *testing.T) {
	p, there := startProxyT(t)
	asking, asked := dialThrough(t, p, there)
	answered, answering := dialThrough(t, p, there)
	broken, far := dialThrough(t, p, there)
	p.Swallow(true)
	losesAll(t, asking, asked)
	losesAll(t, answering, answered)
	newcomer, server := dialThrough(t, p, there)
	losesAll(t, newcomer, server)

	// A connection that has lost bytes stays broken, and a new one works.
	sendMuch(t, broken)
	p.Swallow(false)
	losesAll(t, broken, far)
	here, far := dialThrough(t, p, there)
	send(t, here, "question")
	receive(t, far, "question")
}

func TestProxyDropsReplies(t *testing.T) {
	p, there := startProxyT(t)
	here, far := dialThrough(t, p, there)
	broken, server := dialThrough(t, p, there)
	p.DropReplies(true)
	send(t, here, "do it")
	receive(t, far, "do it")
	losesAll(t, far, here)
	sendMuch(t, server)
	p.DropReplies(false)
	losesAll(t, server, broken)
}

func TestProxyCuts(t *testing.T) {
	p, there := startProxyT(t)
	here, far := dialThrough(t, p, there)
	p.Cut()
	for _, end := range []net.Conn{here, far} {
		_ = end.SetReadDeadline(time.Now().Add(patience))
		if _, err := end.Read(make([]byte, 1)); err == nil || isTimeout(err) {
			t.Errorf("a cut is seen as %v", err)
		}
	}
	here, far = dialThrough(t, p, there)
	send(t, here, "again")
	receive(t, far, "again")
	p.Close()
	p.Close()
	if c, err := net.Dial("tcp", p.Addr()); err == nil {
		t.Error("a closed proxy accepts", c.Close())
	}
}

func TestProxyDelays(t *testing.T) {
	const by = 300 * time.Millisecond
	p, there := startProxyT(t)
	here, far := dialThrough(t, p, there)
	p.Delay(by)
	began := time.Now()
	send(t, here, "question")
	receive(t, far, "question")
	if took := time.Since(began); took < by {
		t.Errorf("bytes came after %v, want at least %v", took, by)
	}
	p.Delay(0)
	send(t, far, "answer")
	receive(t, here, "answer")
}

func TestProxyTearsAMessage(t *testing.T) {
	p, there := startProxyT(t)
	here, far := dialThrough(t, p, there)
	p.Tear()
	send(t, here, "question")
	receive(t, far, "ques")
	if n, err := far.Read(make([]byte, 100)); !errors.Is(err, io.EOF) {
		t.Errorf("after half of the message came %d bytes, %v, want the end", n, err)
	}
	here, far = dialThrough(t, p, there)
	send(t, here, "question")
	receive(t, far, "question")
}

func TestProxyRetargets(t *testing.T) {
	p, there := startProxyT(t)
	_, elsewhere := startProxyT(t)
	here, far := dialThrough(t, p, there)
	p.Retarget(elsewhere.Addr().String())
	send(t, here, "of an old connection")
	receive(t, far, "of an old connection")
	here, far = dialThrough(t, p, elsewhere)
	send(t, here, "of a new one")
	receive(t, far, "of a new one")
}

func TestProxyToNobodyHangsUp(t *testing.T) {
	p, there := startProxyT(t)
	_ = there.Close()
	c, err := net.Dial("tcp", p.Addr())
	noError(t, err)
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, err := c.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("got %v", err)
	}
}

func startProxyT(t *testing.T) (*Proxy, net.Listener) {
	t.Helper()
	there, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { _ = there.Close() })
	p, err := StartProxy(there.Addr().String())
	noError(t, err)
	t.Cleanup(p.Close)
	return p, there
}

// dialThrough returns both ends of a connection through the proxy.
func dialThrough(t *testing.T, p *Proxy, there net.Listener) (here, far net.Conn) {
	t.Helper()
	here, err := net.Dial("tcp", p.Addr())
	noError(t, err)
	t.Cleanup(func() { _ = here.Close() })
	if far, err = there.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	return here, far
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, c net.Conn, want string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("received %q, %v, want %q", got[:n], err, want)
	}
}

// losesAll sends a text and the end of its direction. The other side must receive the end without the text.
func losesAll(t *testing.T, from, to net.Conn) {
	t.Helper()
	send(t, from, "lost")
	noError(t, from.(*net.TCPConn).CloseWrite())
	endsWithoutMore(t, to)
}

// endsWithoutMore waits for the end of the connection. No byte may come before it.
func endsWithoutMore(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if got, err := io.ReadAll(c); len(got) > 0 || isTimeout(err) {
		t.Fatalf("received %d bytes, %v, want none and the end", len(got), err)
	}
}

// sendMuch sends so many bytes that the proxy must have read some when it returns: the buffers of the connection hold fewer.
func sendMuch(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	if _, err := c.Write(make([]byte, 64<<20)); err != nil {
		t.Fatal(err)
	}
	_ = c.SetWriteDeadline(time.Time{})
}
