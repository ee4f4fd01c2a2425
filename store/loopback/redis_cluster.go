package loopback

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// slots is the number of slots of every Redis cluster.
const slots = 16_384

// RedisCluster is a cluster of masters without replicas.
type RedisCluster struct{ nodes []*Redis }

// StartRedisCluster starts a cluster with this number of masters in the folder. It returns when each master knows all
// others and all slots are served. Data of an earlier cluster in the folder is deleted first.
func StartRedisCluster(ctx context.Context, dir string, masters int) (*RedisCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c := &RedisCluster{}
	if err := c.start(ctx, dir, masters); err != nil {
		c.Stop()
		return nil, fmt.Errorf("start Redis cluster: %w", err)
	}
	return c, nil
}

func (c *RedisCluster) start(ctx context.Context, dir string, masters int) error {
	for i := range masters {
		dir := filepath.Join(dir, fmt.Sprintf("node-%d", i))
		if err := os.RemoveAll(dir); err != nil { // data of an earlier cluster, whose nodes had other ports
			return err
		}
		node, err := startRedis(ctx, nil, dir, true, "",
			"--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-announce-ip", "127.0.0.1")
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, node)
	}
	for i := range c.nodes {
		if err := c.addNode(ctx, i); err != nil {
			return err
		}
	}
	for _, node := range c.nodes {
		if err := waitUntil(ctx, node.current(), complete(node, masters)); err != nil {
			return err
		}
	}
	return nil
}

// addNode assigns slots and an epoch to node i, and makes it meet the first node.
func (c *RedisCluster) addNode(ctx context.Context, i int) error {
	node := client(c.nodes[i].Addr())
	defer node.Close() //nolint:errcheck // the replies are known already
	n := len(c.nodes)
	err := node.ClusterAddSlotsRange(ctx, i*slots/n, (i+1)*slots/n-1).Err()
	if err == nil {
		err = node.Do(ctx, "cluster", "set-config-epoch", i+1).Err()
	}
	if err == nil && i > 0 {
		err = node.ClusterMeet(ctx, "127.0.0.1", strconv.Itoa(c.nodes[0].port.number)).Err()
	}
	return err
}

// complete returns a check: it passes when the node knows this number of masters, itself included, and all slots are
// served.
func complete(node *Redis, masters int) func(context.Context) error {
	return func(ctx context.Context) error {
		c := client(node.Addr())
		defer c.Close() //nolint:errcheck // the reply is known already
		info, err := c.ClusterInfo(ctx).Result()
		if err != nil {
			return err
		}
		for _, want := range []string{"cluster_state:ok", fmt.Sprintf("cluster_slots_ok:%d", slots), fmt.Sprintf("cluster_known_nodes:%d", masters)} {
			if !strings.Contains(info, want+"\r\n") {
				return fmt.Errorf("node %s is not at %s", node.Addr(), want)
			}
		}
		return nil
	}
}

// URL returns the URL for clients.
func (c *RedisCluster) URL() string {
	addrs := make([]string, len(c.nodes))
	for i, node := range c.nodes {
		addrs[i] = node.Addr()
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// Nodes returns the servers. Each of them can be paused, killed and started again.
func (c *RedisCluster) Nodes() []*Redis { return c.nodes }

// Stop stops all servers.
func (c *RedisCluster) Stop() {
	var all sync.WaitGroup
	for _, node := range c.nodes {
		all.Go(node.Stop)
	}
	all.Wait()
}

// KeepNodes makes the nodes wait a minute before they take each other for lost, so that a busy machine does not make the cluster
// refuse commands. A node that is restarted does not remember that.
func (c *RedisCluster) KeepNodes(ctx context.Context) error {
	for _, node := range c.nodes {
		admin := client(node.Addr())
		if err := errors.Join(admin.ConfigSet(ctx, "cluster-node-timeout", "60000").Err(), admin.Close()); err != nil {
			return err
		}
	}
	return nil
}

// MoveSlot moves a slot to the next node, key by key, while clients use the keys. It pauses after each key, so that calls meet a slot that
// is half moved.
func (c *RedisCluster) MoveSlot(ctx context.Context, slot int, between time.Duration) error {
	admins, ids := make([]*redis.Client, len(c.nodes)), make([]string, len(c.nodes))
	for i, node := range c.nodes {
		admins[i] = client(node.Addr())
		defer admins[i].Close() //nolint:errcheck // the replies are known already
		id, err := admins[i].Do(ctx, "cluster", "myid").Text()
		if err != nil {
			return err
		}
		ids[i] = id
	}
	from, err := c.owner(ctx, admins[0], slot)
	if err != nil {
		return err
	}
	to := (from + 1) % len(c.nodes)
	err = admins[to].Do(ctx, "cluster", "setslot", slot, "importing", ids[from]).Err()
	if err == nil {
		err = admins[from].Do(ctx, "cluster", "setslot", slot, "migrating", ids[to]).Err()
	}
	if err == nil {
		err = c.moveKeys(ctx, admins[from], c.nodes[to].port.number, slot, between)
	}
	for i := range c.nodes { // the new owner must know first
		if err == nil {
			err = admins[(to+i)%len(c.nodes)].Do(ctx, "cluster", "setslot", slot, "node", ids[to]).Err()
		}
	}
	return err
}

// moveKeys moves all keys of a slot to the node with this port.
func (c *RedisCluster) moveKeys(ctx context.Context, from *redis.Client, to, slot int, between time.Duration) error {
	for {
		keys, err := from.ClusterGetKeysInSlot(ctx, slot, 100).Result()
		if err != nil || len(keys) == 0 {
			return err
		}
		for _, key := range keys {
			if err := from.Migrate(ctx, "127.0.0.1", strconv.Itoa(to), key, 0, 10*time.Second).Err(); err != nil {
				return err
			}
			select {
			case <-time.After(between):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// owner returns the number of the node that serves a slot.
func (c *RedisCluster) owner(ctx context.Context, admin *redis.Client, slot int) (int, error) {
	ranges, err := admin.ClusterSlots(ctx).Result() //nolint:staticcheck // short, and no version of Redis lacks it
	if err != nil {
		return 0, err
	}
	for _, r := range ranges {
		for i, node := range c.nodes {
			if r.Start <= slot && slot <= r.End && r.Nodes[0].Addr == node.Addr() {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf("no node serves slot %d", slot)
}
