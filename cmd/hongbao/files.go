package main

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

// socketsOfAddress returns how many sockets, and how many other connections, one address may have: HONGBAO_MAX_SOCKETS_PER_ADDRESS, or half
// of the sockets if that is fewer. 0 means any number.
func (c *config) socketsOfAddress(files int) int {
	set, all := int(c.MaxPerAddress), c.sockets(files)
	if set == 0 || all == 0 {
		return set
	}
	return min(set, max(1, all/2))
}
