package main

import (
	"net"
	"net/http"
	"sync/atomic"
)

const (
	// minReserve and maxReserve bound the open files that are kept for the database, Redis, the other listeners and the like.
	minReserve = 96
	maxReserve = 4096
)

// connections returns how many connections of clients may be open if the process may open this many files. An eighth of the
// files is reserved, but at least minReserve and at most maxReserve. For files and for the result, 0 means any number.
func connections(files int) int {
	if files == 0 {
		return 0
	}
	return max(1, files-min(max(files/8, minReserve), maxReserve))
}

// sockets returns how many of the connections may be sockets: HONGBAO_MAX_SOCKETS, or fewer, because an eighth of the connections
// is left to clients that use HTTP. 0 means any number.
func (c *config) sockets(files int) int {
	all, most := connections(files), int(c.MaxSockets)
	fit := all - all/8
	if all > 0 && (most == 0 || most > fit) {
		return fit
	}
	return most
}

// connectionBound closes new connections of clients at once while too many are open. Otherwise connections on which no request comes
// could use up the open files.
type connectionBound struct {
	most    int        // 0: any number; static
	sockets func() int // counts the connections that have become sockets; static

	requests atomic.Int64 // open connections that have not become sockets
}

// changed is the ConnState of the clients' server: the server calls it at each change of a connection.
func (b *connectionBound) changed(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if open := int(b.requests.Add(1)) + b.sockets(); b.most > 0 && open > b.most {
			_ = conn.Close()
		}
	case http.StateHijacked, http.StateClosed:
		b.requests.Add(-1)
	}
}
