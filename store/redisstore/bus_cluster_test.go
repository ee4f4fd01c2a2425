package redisstore

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// manyTopics are enough to have some in each partition.
func manyTopics(t *testing.T, b *bus) (topics []string) {
	t.Helper()
	lanes := map[*lane]bool{}
	for i := range 100 {
		topics = append(topics, fmt.Sprint("room:", i))
		lanes[b.laneOf(topics[i])] = true
	}
	if len(lanes) != len(busTags) {
		t.Fatalf("%d partitions have topics", len(lanes))
	}
	return topics
}

// clusterEnds are two instances on a cluster of their own, both listening to all topics.
func clusterEnds(t *testing.T) (cluster *loopback.RedisCluster, topics []string, near, far *storetest.BusEnd) {
	t.Helper()
	cluster, err := loopback.StartRedisCluster(t.Context(), t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Stop)
	b := openBus(t, cluster.URL())
	topics = manyTopics(t, b)
	near, far = storetest.RunBus(t, b), storetest.RunBus(t, openBus(t, cluster.URL()))
	near.Listen(far, topics...)
	far.Listen(near, topics...)
	near.Forget()
	far.Forget()
	return cluster, topics, near, far
}

// TestBusClusterNode kills one node of a cluster and brings it back.
func TestBusClusterNode(t *testing.T) {
	t.Parallel()
	cluster, topics, near, far := clusterEnds(t)
	node := cluster.Nodes()[1]
	node.Kill()
	soon(t, near, "near down", isDown(near))
	soon(t, far, "far down", isDown(far))
	for _, topic := range topics {
		near.Say(topic, "kept")
	}
	if err := node.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	near.Until("near up", isUp(near))
	far.Until("far up", isUp(far))
	for _, topic := range topics {
		wantKept(t, far, topic, []string{"kept"})
	}
}

// TestBusSlotMoves gives a partition's slot to another node: both ends follow, and know that something may be lost.
func TestBusSlotMoves(t *testing.T) {
	t.Parallel()
	cluster, topics, near, far := clusterEnds(t)
	ctx := t.Context()
	var nodes []*redis.Client
	for _, server := range cluster.Nodes() {
		node := redis.NewClient(&redis.Options{Addr: server.Addr()})
		defer node.Close()
		nodes = append(nodes, node)
	}
	slot := nodes[0].ClusterKeySlot(ctx, "hb:{"+busTags[0]+"}").Val() // the first node's
	id, err := nodes[2].Do(ctx, "cluster", "myid").Text()
	if err != nil {
		t.Fatal(err)
	}
	// The new owner first: so no node ever believes that nobody has it.
	for _, node := range []*redis.Client{nodes[2], nodes[0], nodes[1]} {
		if err := node.Do(ctx, "cluster", "setslot", strconv.FormatInt(slot, 10), "node", id).Err(); err != nil {
			t.Fatal(err)
		}
	}
	near.Until("near's suspicion", isUp(near))
	far.Until("far's suspicion", isUp(far))
	for _, topic := range topics {
		near.Say(topic, "after")
		far.Say(topic, "after")
	}
	for _, topic := range topics {
		wantKept(t, far, topic, []string{"after"})
		wantKept(t, near, topic, []string{"after"})
	}
}
