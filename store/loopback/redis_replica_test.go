package loopback

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/store/enginetest"
)

func TestRedisReplicaIsPromotedAndHandsOver(t *testing.T) {
	t.Parallel() // it mostly waits
	first := startRedisT(t, "--repl-diskless-sync-delay", "0")
	second := startRedisT(t, "--repl-diskless-sync-delay", "0")
	set(t, first.Addr(), "first")
	if err := second.Follow(t.Context(), first.Addr()); err != nil {
		t.Fatal(err)
	}
	if got := get(t, second.Addr()); got != "first" {
		t.Errorf("the replica has %q", got)
	}
	if is, err := second.IsMaster(t.Context()); err != nil || is {
		t.Errorf("the replica is a master: %t, %v", is, err)
	}
	if err := second.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	set(t, second.Addr(), "second") // both are masters now
	if got := get(t, first.Addr()); got != "first" {
		t.Errorf("the old master has %q", got)
	}
	if err := first.Follow(t.Context(), second.Addr()); err != nil {
		t.Fatal(err)
	}
	if err := second.HandOver(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Redis{"first": first, "second": second} {
		is, err := r.IsMaster(t.Context())
		if err != nil || is != (name == "first") || get(t, r.Addr()) != "second" {
			t.Errorf("after the hand-over the %s server is a master: %t, %v, and has %q", name, is, err, get(t, r.Addr()))
		}
	}
}

func TestRedisClusterMovesSlots(t *testing.T) {
	enginetest.Need(t, "Redis")
	t.Parallel() // it mostly waits
	c, err := StartRedisCluster(t.Context(), t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	all := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{c.Nodes()[0].Addr()}})
	t.Cleanup(func() { _ = all.Close() })
	const keys = 5
	for i := range keys {
		if err := all.Set(t.Context(), fmt.Sprintf("{slot}%d", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	slot := int(all.ClusterKeySlot(t.Context(), "{slot}").Val())
	before := ownerT(t, c, slot)
	for step := 1; step <= 3; step++ {
		if err := c.MoveSlot(t.Context(), slot, time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if owner := ownerT(t, c, slot); owner != (before+step)%3 {
			t.Errorf("after %d moves from node %d node %d has the slot", step, before, owner)
		}
		for i := range keys {
			if got, err := all.Get(t.Context(), fmt.Sprintf("{slot}%d", i)).Int(); err != nil || got != i {
				t.Errorf("key %d is %d, %v", i, got, err)
			}
		}
	}
}

// ownerT returns the node that serves a slot by the word of each node.
func ownerT(t *testing.T, c *RedisCluster, slot int) int {
	t.Helper()
	owner := -1
	for i, node := range c.Nodes() {
		says, err := c.owner(t.Context(), clientT(t, node.Addr()), slot)
		if err != nil || i > 0 && says != owner {
			t.Fatalf("node %d says that node %d serves slot %d, %v; another one said node %d", i, says, slot, err, owner)
		}
		owner = says
	}
	return owner
}
