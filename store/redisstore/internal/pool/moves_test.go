package pool

import (
	"testing"
	"time"

	"hongbao/redpacket"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// TestPoolSlotMoves moves a partition's slot from node to node during grabs. No grab fails because of a redirect or a
// half-moved slot.
func TestPoolSlotMoves(t *testing.T) {
	t.Parallel() // it waits for a cluster
	const partition = 5
	cluster := storetest.RedisCluster(t)
	p := New(redistest.Nodes(t, cluster.URL()), Options{OutboxCap: 1 << 30})
	slot, err := p.nodes.Client.ClusterKeySlot(t.Context(), p.keys(partition).due).Result()
	if err != nil {
		t.Fatal(err)
	}
	c := startGrabbers(t, p, partition, 20)
	c.await(200)
	for range 3 {
		if err := cluster.MoveSlot(t.Context(), int(slot), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
		c.await(100)
	}
	c.halt()
	if n := c.failed.Load(); n > 0 {
		t.Errorf("%d grabs failed", n)
	}
	// All grants are on the new node, too.
	closing, err := p.Close(t.Context(), c.image.Ref, redpacket.CloseDue)
	if err != nil || !closing.Refused || closing.Reason != redpacket.Open {
		t.Fatalf("%+v %v", closing, err)
	}
	for share, user := range c.owners {
		got, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: c.image.Ref, User: user, May: redpacket.NotMember}})
		if err != nil || got[0].Decision != redpacket.Yours || got[0].Share != share {
			t.Fatalf("%s was granted share %d: now %+v %v", user, share, got, err)
		}
	}
}
