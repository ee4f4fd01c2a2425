package admission

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// namedConn is a connection that records its end. The part of its name before the space is its address.
type namedConn struct {
	net.Conn
	name  string
	ended *[]string
}

func (c *namedConn) RemoteAddr() net.Addr { return address(strings.Fields(c.name)[0]) }

// address is where a connection comes from.
type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

func (c *namedConn) Close() error {
	*c.ended = append(*c.ended, c.name)
	return nil
}

// connections opens connections by name, and knows which ones were closed. The address "proxy" is a trusted proxy.
type connections struct {
	*Connections
	open    map[string]*namedConn
	ended   []string
	sockets int
}

func newConnections(most, mostOfEach int) *connections {
	c := &connections{open: map[string]*namedConn{}}
	c.Connections = NewConnections(most, mostOfEach, func() int { return c.sockets }, func(from net.Addr) string {
		if from.String() == "proxy" {
			return ""
		}
		return from.String()
	})
	return c
}

// enter opens connections and returns the names of those that were closed for the last one.
func (c *connections) enter(names ...string) []string {
	for _, name := range names {
		c.ended = nil
		c.open[name] = &namedConn{name: name, ended: &c.ended}
		c.Changed(c.open[name], http.StateNew)
	}
	return c.ended
}

func (c *connections) become(state http.ConnState, names ...string) {
	for _, name := range names {
		c.Changed(c.open[name], state)
	}
}

func expectClosed(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: closed %q, want %q", what, got, want)
	}
}

// TestLargestHolderLosesIdleConnections fills all places. A new connection must take places of the address that holds the most, from
// connections on which no request is under way.
func TestLargestHolderLosesIdleConnections(t *testing.T) {
	c := newConnections(6, 0)
	expectClosed(t, "places are free", c.enter("b 1", "a 1", "a 2", "a 3", "a 4", "b 2"))
	c.become(http.StateActive, "a 1", "a 2", "a 3", "a 4", "b 1")
	c.become(http.StateIdle, "a 3", "a 1", "b 1")
	expectClosed(t, "all places are taken", c.enter("c 1"), "a 3")
	expectClosed(t, "the address that holds the most comes again", c.enter("a 5"), "a 1")
	c.become(http.StateActive, "a 3", "a 1", "a 5") // two of them are closed
	expectClosed(t, "the largest has no idle connection", c.enter("d 1"), "b 2")
	if got := c.Closings(); got != 3 {
		t.Errorf("%d connections were closed, want 3", got)
	}
}

// TestNewConnectionIsClosedIfNoneIsIdle fills all places with requests. Then a new connection must be closed.
func TestNewConnectionIsClosedIfNoneIsIdle(t *testing.T) {
	c := newConnections(3, 0)
	c.enter("a 1", "b 1", "a 2")
	c.become(http.StateActive, "a 1", "b 1")
	c.become(http.StateHijacked, "a 2")
	c.sockets = 1
	expectClosed(t, "two requests and a socket", c.enter("c 1"), "c 1")
	c.become(http.StateClosed, "b 1", "c 1")
	expectClosed(t, "a request has ended", c.enter("c 2"))
}

// TestConnectionsOfAnAddressAreBounded opens more connections of an address than it may have. Its longest idle one must end, and none of
// another address.
func TestConnectionsOfAnAddressAreBounded(t *testing.T) {
	c := newConnections(0, 2)
	expectClosed(t, "below the bound", c.enter("a 1", "a 2", "b 1"))
	expectClosed(t, "over the bound", c.enter("a 3"), "a 1")
	c.become(http.StateActive, "a 2", "a 3")
	expectClosed(t, "over the bound with requests", c.enter("a 4"), "a 4")
	c.become(http.StateClosed, "a 2", "a 3")
	expectClosed(t, "below the bound again", c.enter("a 5", "a 6"))
}

// TestTrustedProxyIsNoHolder opens many connections of a trusted proxy. They must not count as those of one address, nor be closed for
// others.
func TestTrustedProxyIsNoHolder(t *testing.T) {
	c := newConnections(4, 1)
	expectClosed(t, "a proxy", c.enter("proxy 1", "proxy 2", "proxy 3"))
	expectClosed(t, "an address beside the proxy", c.enter("a 1"))
	expectClosed(t, "all places are taken", c.enter("proxy 4"), "a 1")
	expectClosed(t, "only the proxy has places", c.enter("a 2"), "a 2")
	if len(c.holders) != 0 || len(c.Connections.open) != 4 {
		t.Errorf("%d holders and %d connections are counted, want 0 and 4", len(c.holders), len(c.Connections.open))
	}
}

// TestNewConnectionsTakeHalfOfTheIdle fills all places from one address. One search for places must serve many new connections.
func TestNewConnectionsTakeHalfOfTheIdle(t *testing.T) {
	c := newConnections(8, 0)
	c.enter("a 1", "a 2", "a 3", "a 4", "a 5", "a 6", "a 7", "a 8")
	expectClosed(t, "all places are taken", c.enter("b 1"), "a 1", "a 2", "a 3", "a 4")
	expectClosed(t, "places are free again", c.enter("b 2", "b 3", "b 4"))
}
