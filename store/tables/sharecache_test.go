package tables

import (
	"fmt"
	"testing"

	"hongbao/redpacket"
)

// TestShareCacheIsBounded adds packets of all sizes. The cache must hold at most maxCachedShares, always the packet added last, and count what it drops.
func TestShareCacheIsBounded(t *testing.T) {
	var c ShareCache
	for i := range 3000 {
		id := fmt.Sprint(i)
		c.Put(id, Payout{Shares: make([]redpacket.Money, 1+i%2000)})
		if _, ok := c.Get(id); !ok {
			t.Fatalf("packet %s is forgotten at once", id)
		}
	}
	held := 0
	for _, pays := range c.cut {
		held += len(pays.Shares)
	}
	if held != c.size || held > maxCachedShares {
		t.Errorf("%d shares are cached, counted as %d; want at most %d", held, c.size, maxCachedShares)
	}
	c.Drop("2999")
	c.Drop("none")
	if _, ok := c.Get("2999"); ok || c.size != held-1000 {
		t.Errorf("%d shares are counted after a packet of 1000 was dropped, before %d", c.size, held)
	}
}
