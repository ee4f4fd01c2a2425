// Package admission bounds the open sockets and the other connections of one instance, and the replies over HTTP that wait for slow
// clients. It must always hold: one address cannot use up the bound on sockets, if a lower bound for each address is set. Idle
// connections of one address never keep another address from connecting. While the replies exceed
// their bound, the user with the most unread bytes loses a connection first.
package admission

import "sync"

// Sockets counts the sockets of this instance, from the handshake to the end, and refuses those over its bounds.
type Sockets struct {
	// static
	most       int // over all addresses; 0: any number
	mostOfEach int // of one address; 0: any number

	mu        sync.Mutex
	all       int            // guarded by mu
	byAddress map[string]int // guarded by mu
	refused   int            // guarded by mu; sockets refused so far
}

// NewSockets returns a Sockets with two bounds: on the sockets of all addresses together, and on those of each address. 0 is no
// bound.
func NewSockets(most, mostOfEach int) *Sockets {
	return &Sockets{most: most, mostOfEach: mostOfEach, byAddress: map[string]int{}}
}

// Entry is the result of Sockets.Enter.
type Entry uint8

// The results of Sockets.Enter.
const (
	Entered Entry = iota
	TooMany
	TooManyOfAddress
)

// Enter counts a new socket of an address. If it returns Entered, Leave must be called when the socket is closed.
func (n *Sockets) Enter(address string) Entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.most > 0 && n.all >= n.most:
		n.refused++
		return TooMany
	case n.mostOfEach > 0 && n.byAddress[address] >= n.mostOfEach:
		n.refused++
		return TooManyOfAddress
	}
	n.all++
	n.byAddress[address]++
	return Entered
}

// Leave counts a socket of the address as closed.
func (n *Sockets) Leave(address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all--
	if n.byAddress[address]--; n.byAddress[address] == 0 {
		delete(n.byAddress, address)
	}
}

// Refusals returns how many sockets Enter has refused so far.
func (n *Sockets) Refusals() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refused
}
