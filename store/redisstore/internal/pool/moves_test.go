package pool

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/store/redisstore/internal/redistest"
	"hongbao/store/storetest"
)

// TestPoolSlotMoves moves a partition's slot from node to node during grabs. No grab fails because of a redirect or a
// half-moved slot.
func TestPoolSlotMoves(t *testing.T) {
	t.Parallel() // it waits for a cluster
	const partition = 5
	p := New(redistest.Nodes(t, storetest.RedisCluster(t).URL()), Options{OutboxCap: 1 << 30})
	c := startGrabbers(t, p, partition, 20)
	c.await(200)
	for range 3 {
		moveSlot(t, p, partition)
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

// moveSlot moves a partition's slot to the next node, key by key.
func moveSlot(t *testing.T, p *Pool, partition int) {
	t.Helper()
	ctx := t.Context()
	key := p.keys(partition).due
	cluster := p.nodes.Client.(*redis.ClusterClient)
	slot := cluster.ClusterKeySlot(ctx, key).Val()
	all := nodesOf(t, cluster) // also refreshes the client's map of slots
	from, err := cluster.MasterForKey(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	var to *redis.Client
	ids := map[*redis.Client]string{}
	for _, node := range all {
		ids[node] = node.Do(ctx, "cluster", "myid").Val().(string)
		if node.Options().Addr > from.Options().Addr && (to == nil || node.Options().Addr < to.Options().Addr) {
			to = node
		}
	}
	if to == nil { // from is the last node
		for node := range ids {
			if to == nil || node.Options().Addr < to.Options().Addr {
				to = node
			}
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(to.Do(ctx, "cluster", "setslot", slot, "importing", ids[from]).Err())
	must(from.Do(ctx, "cluster", "setslot", slot, "migrating", ids[to]).Err())
	host, port, err := net.SplitHostPort(to.Options().Addr)
	must(err)
	for _, key := range from.ClusterGetKeysInSlot(ctx, int(slot), 100).Val() {
		must(from.Migrate(ctx, host, port, key, 0, 10*time.Second).Err())
		<-time.After(20 * time.Millisecond) // leaves time for calls that meet a half-moved slot
	}
	for _, node := range []*redis.Client{to, from} {
		must(node.Do(ctx, "cluster", "setslot", slot, "node", ids[to]).Err())
	}
	for node, id := range ids {
		if id != ids[to] && id != ids[from] {
			must(node.Do(ctx, "cluster", "setslot", slot, "node", ids[to]).Err())
		}
	}
}

func nodesOf(t *testing.T, cluster *redis.ClusterClient) (nodes []*redis.Client) {
	t.Helper()
	found := make(chan *redis.Client, 16)
	if err := cluster.ForEachMaster(t.Context(), func(_ context.Context, node *redis.Client) error {
		found <- node
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	close(found)
	for node := range found {
		nodes = append(nodes, node)
	}
	return nodes
}
