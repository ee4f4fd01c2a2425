package sqlitestore

import (
	"hongbao/redpacket"
	"hongbao/store/secret"
	"hongbao/store/tables"
)

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

// forget clears the cache after a failed transaction, because the cache may have a packet that was never committed.
func (c *shareCache) forget() { *c = shareCache{} }

// shares returns the amounts of a packet's shares. The packet must exist.
func (w *writer) shares(packet string) ([]redpacket.Money, error) {
	if shares, ok := w.cache.cut[packet]; ok {
		return shares, nil
	}
	var (
		p       = redpacket.Packet{Ref: redpacket.Ref{ID: packet}}
		columns secret.Columns
	)
	dest := append([]any{&p.From.ID, &p.Key, &p.Mode, &p.Spread, &p.Total, &p.Count}, tables.CutInto(dialect{}, &columns)...)
	if _, err := w.Row(`select p.sender, p.key, p.mode, p.spread, p.total, p.count, `+tables.CutColumns+` from packets p where p.id = ?`,
		[]any{packet}, dest...); err != nil {
		return nil, err
	}
	_, shares, err := w.keys.Cut(p, columns)
	if err != nil {
		return nil, err
	}
	w.cache.put(packet, shares)
	return shares, nil
}
