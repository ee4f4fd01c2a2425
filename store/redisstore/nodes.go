package redisstore

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// nodes finds the node of each key, and retries calls while keys move between nodes.
type nodes struct {
	client redis.UniversalClient
	checks *nodeChecks // of the client's nodes; nil: every node may be used
}

// of returns the client of the key's node. It fails at once while no node has been found fit.
func (n nodes) of(ctx context.Context, key string) (*redis.Client, error) {
	if err := n.checks.err(); err != nil {
		return nil, err
	}
	if c, ok := n.client.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, key)
	}
	return n.client.(*redis.Client), nil
}

// sharded reports whether Redis is a cluster. Then all keys of a call must be in one slot.
func (n nodes) sharded() bool {
	_, ok := n.client.(*redis.ClusterClient)
	return ok
}

// run runs calls for any nodes, one pipeline for each node. It retries calls that may succeed shortly.
func (n nodes) run(ctx context.Context, calls ...*call) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	byNode := map[*redis.Client][]*call{}
	for _, c := range calls {
		node, err := n.of(ctx, c.key())
		if err != nil {
			c.fail(ctx, err)
			continue
		}
		byNode[node] = append(byNode[node], c)
	}
	var wg sync.WaitGroup
	for node, calls := range byNode {
		if len(byNode) == 1 {
			send(ctx, node, calls)
			break
		}
		wg.Go(func() { send(ctx, node, calls) })
	}
	wg.Wait()
	n.retry(ctx, retryable(calls, 0))
}

// retry repeats calls that failed, until each succeeds, fails for good, or ctx ends. The Redis driver finds the nodes
// and follows redirects.
func (n nodes) retry(ctx context.Context, calls []*call) {
	for tries := 1; len(calls) > 0; tries++ {
		delay := min(minBackoff<<tries, maxBackoff)
		delay = delay/2 + rand.N(delay)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < delay {
			return
		}
		if c, ok := n.client.(*redis.ClusterClient); ok {
			c.ReloadState(ctx)
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return
		}
		send(ctx, n.client, calls)
		calls = retryable(calls, tries)
	}
}

// maxReconnects is how often a call is repeated after its connection was lost or refused: the driver's pool may have
// held dead connections, or a host name a new address. It is small, because calls must not wait for a server that is
// down.
const maxReconnects = 2

func retryable(calls []*call, tries int) (rest []*call) {
	for _, c := range calls {
		if err := c.err(); err != nil && (transient(err) || connectionLost(err) && tries < maxReconnects) {
			rest = append(rest, c)
		}
	}
	return rest
}
