package sqlitestore

import "hongbao/redpacket"

// shareCache caches the amounts of packets' shares, which never change. Without it, reading a long array for each
// claim would limit the throughput of a hot packet. Only the committer uses it. The amounts are as secret as the
// seeds.
type shareCache struct {
	cut  map[string][]redpacket.Money
	size int // number of shares in all entries
}

// maxCachedShares bounds the cache to 8 MB.
const maxCachedShares = 1 << 20

func (c *shareCache) put(packet string, shares []redpacket.Money) {
	if c.cut == nil {
		c.cut = map[string][]redpacket.Money{}
	}
	for id, old := range c.cut { // evicts any one: a hot packet is soon cached again
		if c.size+len(shares) <= maxCachedShares {
			break
		}
		c.size -= len(old)
		delete(c.cut, id)
	}
	c.cut[packet] = shares
	c.size += len(shares)
}

// forget clears the cache after a failed transaction, because a packet that it read may never have been committed.
func (c *shareCache) forget() { *c = shareCache{} }

// shares returns the amounts of a packet's shares. The packet must exist.
func (w *writer) shares(packet string) ([]redpacket.Money, error) {
	if shares, ok := w.cache.cut[packet]; ok {
		return shares, nil
	}
	var shares []redpacket.Money
	if _, err := w.row(`select shares from packets where id = ?`, []any{packet}, storedJSON{&shares}); err != nil {
		return nil, err
	}
	w.cache.put(packet, shares)
	return shares, nil
}
