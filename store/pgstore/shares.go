package pgstore

import (
	"sync"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// shareCache caches the amounts of packets' shares, which never change. Without it, reading a long array for each
// batch would limit the throughput of a hot packet. The amounts are as secret as the seeds. The zero value is ready.
type shareCache struct {
	mu   sync.Mutex
	cut  map[string][]redpacket.Money
	size int // number of shares of all packets
}

// maxCachedShares bounds the cache to 8 MB.
const maxCachedShares = 1 << 20

// cached returns the shares of the packets that are in the cache, and the ids of the other packets.
func (c *shareCache) cached(packets []string) (cut map[string][]redpacket.Money, unknown []string) {
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

func (c *shareCache) put(packet string, shares []redpacket.Money) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut == nil {
		c.cut = map[string][]redpacket.Money{}
	}
	if _, ok := c.cut[packet]; ok {
		return
	}
	for id, old := range c.cut { // drops any one: a hot packet soon returns to the cache
		if c.size+len(shares) <= maxCachedShares {
			break
		}
		c.size -= len(old)
		delete(c.cut, id)
	}
	c.cut[packet] = shares
	c.size += len(shares)
}

// drop removes a packet that the database no longer has from the cache.
func (c *shareCache) drop(packet string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size -= len(c.cut[packet])
	delete(c.cut, packet)
}

// shares returns the amounts of the shares of those packets that exist.
func (s *Store) shares(q querier, packets []string) (map[string][]redpacket.Money, error) {
	cut, unknown := s.cuts.cached(packets)
	if len(unknown) == 0 {
		return cut, nil
	}
	read, err := rows(q, scanCut, `select id, shares from packets where id = any($1)`, unknown)
	if err != nil {
		return nil, err
	}
	for _, p := range read {
		cut[p.packet] = p.shares
		s.cuts.put(p.packet, p.shares)
	}
	return cut, nil
}

// packetCut is the shares of one packet.
type packetCut struct {
	packet string
	shares []redpacket.Money
}

func scanCut(rs pgx.Rows) (p packetCut, err error) {
	err = rs.Scan(&p.packet, &p.shares)
	return p, err
}
