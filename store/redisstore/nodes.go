package redisstore

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// nodes knows which node holds which key, and how to go on when that has just changed.
type nodes struct{ client redis.UniversalClient }

// of finds the node of a key.
func (n nodes) of(ctx context.Context, key string) (*redis.Client, error) {
	if c, ok := n.client.(*redis.ClusterClient); ok {
		return c.MasterForKey(ctx, key)
	}
	return n.client.(*redis.Client), nil
}

// sharded tells whether a call must keep to the keys of one slot.
func (n nodes) sharded() bool {
	_, ok := n.client.(*redis.ClusterClient)
	return ok
}

// run runs calls of any nodes, one pipeline each, and again what may succeed a little later.
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
	n.again(ctx, worthAnotherTry(calls, 0))
}

// again runs calls that failed until each succeeds, fails for good, or ctx ends. The client finds the nodes, and
// follows redirects.
func (n nodes) again(ctx context.Context, calls []*call) {
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
		calls = worthAnotherTry(calls, tries)
	}
}

// redials is how often a call is repeated whose connection was lost or refused: the pool may have held dead ones,
// or a name may have moved. A server that is down is not waited for.
const redials = 2

func worthAnotherTry(calls []*call, tries int) (rest []*call) {
	for _, c := range calls {
		if err := c.err(); err != nil && (passing(err) || broken(err) && tries < redials) {
			rest = append(rest, c)
		}
	}
	return rest
}
