package nodes

// AsNew makes the node with this address look unchecked; with an empty address, all nodes.
func AsNew(c *Checks, addr string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		if addr == "" || n.addr == addr {
			n.fit.Store(false)
		}
	}
}

// Unchecked returns the addresses of the nodes that were not found fit.
func Unchecked(c *Checks) (addrs []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for addr, n := range c.nodes {
		if !n.fit.Load() {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}
