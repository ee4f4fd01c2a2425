package pgstore

import (
	"sync"

	"github.com/jackc/pgx/v5"

	"hongbao/redpacket"
)

// shareCache remembers how packets are cut, which never changes: reading a long array for each batch would cap a
// hot packet. It is as secret as the seeds. The zero value is ready.
type shareCache struct {
	mu   sync.Mutex
	cut  map[string][]redpacket.Money
	size int // shares in all of them
}

// maxCachedShares bounds the cache to 8 MB.
const maxCachedShares = 1 << 20

// known gives those of the packets that are in the cache, and names the others.
func (c *shareCache) known(packets []string) (cut map[string][]redpacket.Money, unknown []string) {
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

// drop forgets a packet that is not there any more.
func (c *shareCache) drop(packet string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size -= len(c.cut[packet])
	delete(c.cut, packet)
}

// shares gives the cuts of those of the packets that exist.
func (s *Store) shares(q querier, packets []string) (map[string][]redpacket.Money, error) {
	cut, unknown := s.cuts.known(packets)
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

// packetCut is how one packet is cut.
type packetCut struct {
	packet string
	shares []redpacket.Money
}

func scanCut(rs pgx.Rows) (p packetCut, err error) {
	err = rs.Scan(&p.packet, &p.shares)
	return p, err
}
