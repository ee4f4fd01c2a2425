package tables

import (
	"sync"

	"hongbao/redpacket"
)

// ShareCache caches the amounts of packets' shares, which never change. Without it, reading a long array for each batch
// would limit the throughput of a hot packet. The amounts are as secret as the seeds. The zero value is ready. It is safe for
// concurrent use.
type ShareCache struct {
	mu   sync.Mutex
	cut  map[string][]redpacket.Money
	size int // number of shares of all packets
}

// maxCachedShares bounds the cache to 8 MB.
const maxCachedShares = 1 << 20

// Get returns the shares of a packet, if they are in the cache.
func (c *ShareCache) Get(packet string) (shares []redpacket.Money, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shares, ok = c.cut[packet]
	return shares, ok
}

// Cached returns the shares of the packets that are in the cache, and the ids of the other packets.
func (c *ShareCache) Cached(packets []string) (cut map[string][]redpacket.Money, unknown []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cut = make(map[string][]redpacket.Money, len(packets))
	for _, id := range packets {
		if shares, ok := c.cut[id]; ok {
			cut[id] = shares
		} else {
			unknown = append(unknown, id)
		}
	}
	return cut, unknown
}

// Put adds the shares of a packet. If the cache is full, it drops other packets, whichever come first: a hot packet soon returns.
func (c *ShareCache) Put(packet string, shares []redpacket.Money) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == nil {
		c.cut = map[string][]redpacket.Money{}
	}
	if _, ok := c.cut[packet]; ok {
		return
	}
	for id, old := range c.cut {
		if c.size+len(shares) <= maxCachedShares {
			break
		}
		c.size -= len(old)
		delete(c.cut, id)
	}
	c.cut[packet] = shares
	c.size += len(shares)
}

// Drop removes a packet that the database does not have, or not any more.
func (c *ShareCache) Drop(packet string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size -= len(c.cut[packet])
	delete(c.cut, packet)
}

// Clear empties the cache.
func (c *ShareCache) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut, c.size = nil, 0
}
