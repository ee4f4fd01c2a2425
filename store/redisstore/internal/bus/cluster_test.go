package bus

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"hongbao/store/enginetest"
	"hongbao/store/loopback"
	"hongbao/store/storetest"
)

// manyTopics returns enough topics to have some in each partition.
func manyTopics(t *testing.T, b *Bus) (topics []string) {
	t.Helper()
	shards := map[*shard]bool{}
	for i := range 100 {
		topics = append(topics, fmt.Sprint("room:", i))
		shards[b.shardOf(topics[i])] = true
	}
	if len(shards) != len(shardTags) {
		t.Fatalf("%d partitions have topics", len(shards))
	}
	return topics
}

// twoClusterInstances starts two instances on a cluster of their own. Both subscribe to all topics.
func twoClusterInstances(t *testing.T) (cluster *loopback.RedisCluster, topics []string, near, far *storetest.BusEnd) {
	t.Helper()
	enginetest.Need(t, "Redis")
	cluster, err := loopback.StartRedisCluster(t.Context(), t.TempDir(), 3)
	noError(t, err)
	t.Cleanup(cluster.Stop)
	b := patientBus(t, cluster.URL())
	topics = manyTopics(t, b)
	near, far = storetest.RunBus(t, b), storetest.RunBus(t, patientBus(t, cluster.URL()))
	near.Listen(far, topics...)
	far.Listen(near, topics...)
	near.Forget()
	far.Forget()
	return cluster, topics, near, far
}

// TestBusClusterNode kills one node of a cluster and restarts it. Two instances notice that the bus is down, and that
// it is up again. Messages published meanwhile arrive.
func TestBusClusterNode(t *testing.T) {
	t.Parallel()
	cluster, topics, near, far := twoClusterInstances(t)
	node := cluster.Nodes()[1]
	node.Kill()
	wantSoon(t, near, "near down", isDown(near))
	wantSoon(t, far, "far down", isDown(far))
	for _, topic := range topics {
		near.Say(topic, "kept")
	}
	noError(t, node.Restart(t.Context()))
	near.Until("near up", isUp(near))
	far.Until("far up", isUp(far))
	for _, topic := range topics {
		wantKept(t, far, topic, []string{"kept"})
	}
}

// TestBusSlotMoves moves a partition's slot to another cluster node. Both instances subscribe there, and their
// receivers learn that messages may be lost.
func TestBusSlotMoves(t *testing.T) {
	t.Parallel()
	cluster, topics, near, far := twoClusterInstances(t)
	ctx := t.Context()
	var nodes []*redis.Client
	for _, server := range cluster.Nodes() {
		node := redis.NewClient(&redis.Options{Addr: server.Addr()})
		defer node.Close()
		nodes = append(nodes, node)
	}
	slot := nodes[0].ClusterKeySlot(ctx, "hb:v2:{"+shardTags[0]+"}").Val() // the first node owns it
	id, err := nodes[2].Do(ctx, "cluster", "myid").Text()
	noError(t, err)
	// The new owner is told first, so no node ever believes that the slot has no owner.
	for _, node := range []*redis.Client{nodes[2], nodes[0], nodes[1]} {
		noError(t, node.Do(ctx, "cluster", "setslot", strconv.FormatInt(slot, 10), "node", id).Err())
	}
	near.Until("near suspects", isUp(near))
	far.Until("far suspects", isUp(far))
	for _, topic := range topics {
		near.Say(topic, "after")
		far.Say(topic, "after")
	}
	for _, topic := range topics {
		wantKept(t, far, topic, []string{"after"})
		wantKept(t, near, topic, []string{"after"})
	}
}
