package redisstore

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
)

// Clocks implements redpacket.Pool. A cluster has one clock for each master.
func (p *Pool) Clocks(ctx context.Context, now func() time.Time) ([]redpacket.ClockDifference, error) {
	if err := p.nodes.checks.err(); err != nil {
		return nil, unavailable("read the clock", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var mu sync.Mutex
	var all []redpacket.ClockDifference
	err := eachMaster(ctx, p.nodes.client, func(ctx context.Context, node *redis.Client) error {
		d, err := redpacket.CompareClock(p.nodes.name(node), now, func() (time.Time, error) { return node.Time(ctx).Result() })
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, d)
		return nil
	})
	slices.SortFunc(all, func(a, b redpacket.ClockDifference) int { return cmp.Compare(a.Clock, b.Clock) })
	if err != nil {
		return all, unavailable("read the clock", err)
	}
	return all, nil
}

// name names a node for logs and errors.
func (n nodes) name(node *redis.Client) string {
	if n.checks != nil && !n.sharded() {
		return n.checks.name // behind sentinels the client knows no address
	}
	return "Redis at " + node.Options().Addr
}
