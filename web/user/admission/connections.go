package admission

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// Connections bounds the connections of clients, so that connections on which no request comes cannot use up the open files. It counts
// those that have not become sockets by holder, which is the address that holds them. While all places are taken, a new connection takes
// the places of idle connections of the holder that has the most.
type Connections struct {
	// static
	most       int                          // connections and sockets over all addresses; 0: any number
	mostOfEach int                          // connections of one holder; 0: any number
	sockets    func() int                   // counts the connections that have become sockets
	holder     func(net.Addr) (name string) // "": a proxy that is trusted, which connects for many clients and is no holder

	mu      sync.Mutex
	open    map[net.Conn]*connection // guarded by mu; without those that were closed here or have become sockets
	holders map[string]*holder       // guarded by mu
	closed  uint64                   // guarded by mu; connections closed here so far
}

// holder is an address with its connections.
type holder struct {
	name string
	open int
	idle list.List // of *connection, those first that have been idle longest
}

// connection is one connection that has not become a socket.
type connection struct {
	conn net.Conn
	of   *holder       // nil: of a trusted proxy
	idle *list.Element // its place in the list of its holder; nil: a request is under way
}

// Closed says which connections a Connections has closed, for the log.
type Closed struct {
	Holder      string // "": a connection of a trusted proxy
	Connections int    // of the holder, before some were closed
	Closed      int
}

// NewConnections returns a Connections with two bounds; see the fields of the type. 0 is no bound.
func NewConnections(most, mostOfEach int, sockets func() int, name func(net.Addr) string) *Connections {
	return &Connections{
		most: most, mostOfEach: mostOfEach, sockets: sockets, holder: name, open: map[net.Conn]*connection{}, holders: map[string]*holder{},
	}
}

// Changed must be called with each change of the state of a connection, as http.Server.ConnState. It returns which connections it has
// closed for a new one, with Closed 0 if none.
func (c *Connections) Changed(conn net.Conn, state http.ConnState) Closed {
	report, victims := c.change(conn, state)
	for _, v := range victims {
		end(v)
	}
	return report
}

// end closes a connection without waiting for its client. The close of a TLS connection would write to the client first.
func end(conn net.Conn) {
	if encrypted, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = encrypted.NetConn()
	}
	_ = conn.Close()
}

func (c *Connections) change(conn net.Conn, state http.ConnState) (Closed, []net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateNew {
		return c.enterLocked(conn)
	}
	known := c.open[conn]
	switch {
	case known == nil: // it was closed here
	case state == http.StateActive:
		known.work()
	case state == http.StateIdle:
		known.rest()
	case state == http.StateHijacked || state == http.StateClosed:
		c.leaveLocked(known)
	}
	return Closed{}, nil
}

// enterLocked counts a new connection, which is idle until its first request comes. It returns the connections that must be closed for it,
// or the new one, if no place can be made.
func (c *Connections) enterLocked(conn net.Conn) (Closed, []net.Conn) {
	entered := &connection{conn: conn}
	if name := c.holder(conn.RemoteAddr()); name != "" {
		if c.holders[name] == nil {
			c.holders[name] = &holder{name: name}
		}
		entered.of = c.holders[name]
		entered.of.open++
	}
	c.open[conn] = entered
	from, places := entered.of, 0
	switch {
	case c.mostOfEach > 0 && from != nil && from.open > c.mostOfEach:
		places = 1
	case c.most > 0 && len(c.open)+c.sockets() > c.most:
		if from = c.largestLocked(); from != nil { // half of them, so that the next connections need not search again
			places = (from.idle.Len() + 1) / 2
		}
	default:
		entered.rest()
		return Closed{}, nil
	}
	var report Closed
	if from != nil {
		report = Closed{Holder: from.name, Connections: from.open}
	}
	var victims []net.Conn
	for ; places > 0 && from.idle.Len() > 0; places-- {
		victim := from.idle.Front().Value.(*connection) //nolint:forcetypeassert // the list has no other values
		c.leaveLocked(victim)
		victims = append(victims, victim.conn)
	}
	if len(victims) == 0 {
		c.leaveLocked(entered)
		victims = append(victims, conn)
	} else {
		entered.rest()
	}
	report.Closed = len(victims)
	c.closed += uint64(len(victims))
	return report, victims
}

// largestLocked returns the holder with the most connections among those that have idle ones; nil: there is none.
func (c *Connections) largestLocked() (largest *holder) {
	for _, h := range c.holders {
		if h.idle.Len() > 0 && (largest == nil || h.open > largest.open) {
			largest = h
		}
	}
	return largest
}

func (c *Connections) leaveLocked(gone *connection) {
	delete(c.open, gone.conn)
	gone.work()
	if gone.of == nil {
		return
	}
	if gone.of.open--; gone.of.open == 0 {
		delete(c.holders, gone.of.name)
	}
}

// rest marks the connection as idle.
func (c *connection) rest() {
	if c.of != nil && c.idle == nil {
		c.idle = c.of.idle.PushBack(c)
	}
}

// work marks the connection as not idle.
func (c *connection) work() {
	if c.idle != nil {
		c.of.idle.Remove(c.idle)
		c.idle = nil
	}
}

// Closings returns how many connections were closed here so far.
func (c *Connections) Closings() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}
