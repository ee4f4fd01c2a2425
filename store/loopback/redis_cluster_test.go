package loopback

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"hongbao/store/enginetest"
)

func TestRedisClusterServesAllSlots(t *testing.T) {
	enginetest.Need(t, "Redis")
	t.Parallel() // it mostly waits
	c, err := StartRedisCluster(t.Context(), t.TempDir(), 3)
	noError(t, err)
	t.Cleanup(c.Stop)
	addrs, _ := strings.CutPrefix(c.URL(), "redis+cluster://")
	all := redis.NewClusterClient(&redis.ClusterOptions{Addrs: strings.Split(addrs, ",")})
	t.Cleanup(func() { _ = all.Close() })

	ranges, err := all.ClusterSlots(t.Context()).Result()
	noError(t, err)
	covered, owners := 0, map[string]bool{}
	for _, r := range ranges {
		covered += r.End - r.Start + 1
		owners[r.Nodes[0].Addr] = true
	}
	if covered != slots || len(owners) != len(c.Nodes()) {
		t.Errorf("%d slots at %v", covered, owners)
	}
	for _, node := range c.Nodes() {
		if !owners[node.Addr()] {
			t.Errorf("%s owns nothing", node.Addr())
		}
	}
	for i := range 100 {
		noError(t, all.Set(t.Context(), fmt.Sprint("key", i), i, 0).Err())
	}

	// A restarted node has its old identity in the cluster.
	node := c.Nodes()[1]
	node.Kill()
	noError(t, node.Restart(t.Context()))
	for _, node := range c.Nodes() {
		if err := waitUntil(within(t, patience), nil, complete(node, 3)); err != nil {
			t.Error(err)
		}
	}
}

func TestRedisClusterStartsAnewInAUsedFolder(t *testing.T) {
	enginetest.Need(t, "Redis")
	t.Parallel() // it mostly waits
	dir := t.TempDir()
	for masters := 2; masters >= 1; masters-- {
		c, err := StartRedisCluster(t.Context(), dir, masters)
		noError(t, err)
		t.Cleanup(c.Stop)
		if len(c.Nodes()) != masters {
			t.Errorf("%d nodes", len(c.Nodes()))
		}
		c.Stop()
	}
}
