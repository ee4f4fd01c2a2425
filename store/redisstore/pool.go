package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
)

// poolOptions are the options of a Pool.
type poolOptions struct {
	OutboxCap int         // most claims in the outbox of one partition; default 10,000
	Checks    *nodeChecks // of the client's nodes; nil: every node may be used
}

// Pool implements redpacket.Pool.
type Pool struct {
	// immutable after newPool
	nodes      nodes
	scripts    poolScripts
	outboxCap  int
	partitions [redpacket.Partitions]partitionKeys

	batchers batchers
}

var _ redpacket.Pool = (*Pool)(nil)

// partitionKeys are the keys that all packets of a partition share. One hash tag keeps them in one slot.
type partitionKeys struct{ due, out, held, image string }

func newPool(client redis.UniversalClient, o poolOptions) *Pool {
	p := &Pool{nodes: nodes{client, o.Checks}, scripts: newPoolScripts(), outboxCap: cmp.Or(o.OutboxCap, 10_000)}
	for i := range p.partitions {
		tag := fmt.Sprintf("rp:{p%02d}:", i)
		p.partitions[i] = partitionKeys{due: tag + "due", out: tag + "outbox", held: tag + "held", image: tag + "k:"}
	}
	return p
}

// keys returns the keys of the partition. No valid ledger holds a number out of range, but one must not panic.
func (p *Pool) keys(partition int) *partitionKeys {
	return &p.partitions[uint(partition)%redpacket.Partitions]
}

// Grab implements redpacket.Pool.
func (p *Pool) Grab(ctx context.Context, attempts []redpacket.Attempt) ([]redpacket.Answer, error) {
	answers := make([]redpacket.Answer, len(attempts))
	if err := p.grab(ctx, attempts, answers); err != nil {
		return nil, unavailable("grab", err)
	}
	return answers, nil
}

// Ack implements redpacket.Pool.
func (p *Pool) Ack(ctx context.Context, claims []redpacket.Claim) error {
	if err := p.ack(ctx, claims); err != nil {
		return unavailable("ack", err)
	}
	return nil
}

// Load implements redpacket.Pool.
func (p *Pool) Load(ctx context.Context, i redpacket.Image) error {
	k := p.keys(i.Partition)
	c := newCall(p.scripts.load, 4, 4+2*len(i.Grants))
	c.add(k.due, k.out, k.held, k.image+i.ID, i.ID, i.Count, i.Deadline.UnixMilli(), string(i.Status))
	for g := range i.Grants {
		c.add(&i.Grants[g].User, i.Grants[g].Share)
	}
	if p.nodes.run(ctx, c); c.err() != nil {
		return unavailable("load", c.err())
	}
	return nil
}

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
