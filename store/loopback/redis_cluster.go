package loopback

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// slots is how many parts the keys of every Redis cluster fall into.
const slots = 16_384

// RedisCluster is several masters that share the keys, without replicas.
type RedisCluster struct{ nodes []*Redis }

// StartRedisCluster starts a cluster of so many masters in the folder, and returns when each of them knows of all
// the others and serves its part. What an earlier cluster left in the folder is not used.
func StartRedisCluster(ctx context.Context, dir string, masters int) (*RedisCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
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
		if err := os.RemoveAll(dir); err != nil { // its ports were others
			return err
		}
		node, err := startRedis(ctx, dir, true, "",
			"--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--cluster-announce-ip", "127.0.0.1")
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, node)
	}
	for i := range c.nodes {
		if err := c.join(ctx, i); err != nil {
			return err
		}
	}
	for _, node := range c.nodes {
		if err := until(ctx, node.current(), whole(node, masters)); err != nil {
			return err
		}
	}
	return nil
}

// join gives a node its part of the slots and an epoch of its own, and introduces it to the first one.
func (c *RedisCluster) join(ctx context.Context, i int) error {
	node := client(c.nodes[i].Addr())
	defer node.Close() //nolint:errcheck // what counts was answered
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

// whole is nil when the node sees so many masters, and all slots served.
func whole(node *Redis, masters int) func(context.Context) error {
	return func(ctx context.Context) error {
		c := client(node.Addr())
		defer c.Close() //nolint:errcheck // it asked one question
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

// URL is how clients are told of it.
func (c *RedisCluster) URL() string {
	addrs := make([]string, len(c.nodes))
	for i, node := range c.nodes {
		addrs[i] = node.Addr()
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// Nodes are its servers, each of which can be paused, killed and started again.
func (c *RedisCluster) Nodes() []*Redis { return c.nodes }

// Stop ends all of them.
func (c *RedisCluster) Stop() {
	var all sync.WaitGroup
	for _, node := range c.nodes {
		all.Go(node.Stop)
	}
	all.Wait()
}
