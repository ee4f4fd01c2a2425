package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
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

// reader decodes a reply item by item. The first unexpected item sets the error. All later items read as zero values.
type reader struct {
	items []any
	err   error
}

func (r *reader) more() bool { return r.err == nil && len(r.items) > 0 }

func (r *reader) next() any {
	if r.err != nil || len(r.items) == 0 {
		r.fail("nothing")
		return nil
	}
	item := r.items[0]
	r.items = r.items[1:]
	return item
}

func (r *reader) fail(what any) {
	if r.err == nil {
		r.err = fmt.Errorf("unexpected reply: %v (%T)", what, what)
	}
}

func (r *reader) int() int {
	n, ok := r.next().(int64)
	if !ok {
		r.fail("no integer")
	}
	return int(n)
}

func (r *reader) text() string {
	s, ok := r.next().(string)
	if !ok {
		r.fail("no text")
	}
	return s
}

func (r *reader) list() []any {
	l, ok := r.next().([]any)
	if !ok {
		r.fail("no list")
	}
	return l
}

// number reads an integer that was sent as text.
func (r *reader) number() int {
	s := r.text()
	n, err := strconv.Atoi(s)
	if err != nil {
		r.fail(s)
	}
	return n
}
