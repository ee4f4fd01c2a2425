package sqlitestore

import "hongbao/redpacket"

// shareCache remembers how packets are cut, which never changes: reading a long array for each claim
// would cap a hot packet. It belongs to the committer, and is as secret as the seeds.
type shareCache struct {
	cut  map[string][]redpacket.Money
	size int // shares in all of them
}

// maxCachedShares bounds the cache to 8 MB.
const maxCachedShares = 1 << 20

func (c *shareCache) put(packet string, shares []redpacket.Money) {
	if c.cut == nil {
		c.cut = map[string][]redpacket.Money{}
	}
	for id, old := range c.cut { // any will do: a hot packet is soon back
		if c.size+len(shares) <= maxCachedShares {
			break
		}
		c.size -= len(old)
		delete(c.cut, id)
	}
	c.cut[packet] = shares
	c.size += len(shares)
}

// forget drops everything: what was read in a transaction that failed may never have been true.
func (c *shareCache) forget() { *c = shareCache{} }

// shares gives the cut of a packet that is known to exist.
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
