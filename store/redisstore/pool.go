package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
)

// poolOptions of a Pool.
type poolOptions struct {
	OutboxCap int // claims that the outbox of one partition holds; default 10,000
}

// Pool is a redpacket.Pool in Redis.
type Pool struct {
	// static after newPool
	nodes      nodes
	scripts    poolScripts
	outboxCap  int
	partitions [redpacket.Partitions]partitionKeys

	runways runways
}

var _ redpacket.Pool = (*Pool)(nil)

// partitionKeys are the keys that the packets of a partition share. One hash tag keeps all of them in one slot.
type partitionKeys struct{ due, out, acks, image string }

func newPool(client redis.UniversalClient, o poolOptions) *Pool {
	p := &Pool{nodes: nodes{client}, scripts: newPoolScripts(), outboxCap: cmp.Or(o.OutboxCap, 10_000)}
	for i := range p.partitions {
		tag := fmt.Sprintf("rp:{p%02d}:", i)
		p.partitions[i] = partitionKeys{due: tag + "due", out: tag + "out", acks: tag + "acks", image: tag + "k:"}
	}
	return p
}

// keys are those of the packet's partition; a number out of range, which no sound ledger holds, must not panic.
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
	c.add(k.due, k.out, k.acks, k.image+i.ID, i.ID, i.Count, i.Deadline.UnixMilli(), string(i.Status))
	for g := range i.Grants {
		c.add(&i.Grants[g].User, i.Grants[g].Share)
	}
	if p.nodes.run(ctx, c); c.err() != nil {
		return unavailable("load", c.err())
	}
	return nil
}

// Close implements redpacket.Pool.
func (p *Pool) Close(ctx context.Context, r redpacket.Ref, cancel bool) (redpacket.Closing, error) {
	k := p.keys(r.Partition)
	c := newCall(p.scripts.close, 2, 2)
	c.add(k.due, k.image+r.ID, r.ID, cancel)
	p.nodes.run(ctx, c)
	closing, err := readClosing(c.cmd)
	if err != nil {
		return redpacket.Closing{}, unavailable("close", err)
	}
	return closing, nil
}

func readClosing(cmd *redis.Cmd) (closing redpacket.Closing, err error) {
	reply, err := cmd.Slice()
	if err != nil || len(reply) == 0 {
		return redpacket.Closing{Missing: true}, err
	}
	r := reader{items: reply}
	closing.Refused = r.int() == 0
	closing.Reason = redpacket.Status(r.text())
	if closing.Refused {
		return closing, r.err
	}
	fields := reader{items: r.list()}
	closing.Grants = make([]redpacket.Grant, 0, len(fields.items)/2)
	for fields.more() {
		if name, value := fields.text(), fields.text(); !strings.HasPrefix(name, "#") {
			share, err := strconv.Atoi(value)
			if err != nil {
				return closing, err
			}
			closing.Grants = append(closing.Grants, redpacket.Grant{User: name, Share: share})
		}
	}
	slices.SortFunc(closing.Grants, func(a, b redpacket.Grant) int { return cmp.Compare(a.Share, b.Share) })
	return closing, cmp.Or(r.err, fields.err)
}

// everywhere makes a call for each partition and gives the replies of those that could be asked: of a cluster with
// a dead node the others go on. It fails when there is none.
func (p *Pool) everywhere(ctx context.Context, build func(k *partitionKeys) *call) (replies [redpacket.Partitions]reader, err error) {
	calls := make([]*call, len(p.partitions))
	for i := range p.partitions {
		calls[i] = build(&p.partitions[i])
	}
	p.nodes.run(ctx, calls...)
	failed := 0
	for i, c := range calls {
		reply, failure := c.cmd.Slice()
		if failure != nil {
			err = failure
			failed++
		}
		replies[i] = reader{items: reply}
	}
	if failed < len(calls) {
		err = nil
	}
	return replies, err
}

// Due implements redpacket.Pool.
func (p *Pool) Due(ctx context.Context, limit int) ([]redpacket.Ref, error) {
	replies, err := p.everywhere(ctx, func(k *partitionKeys) *call {
		c := newCall(p.scripts.due, 1, 1)
		c.add(k.due, limit)
		return c
	})
	type dated struct {
		ref redpacket.Ref
		at  int
	}
	var found []dated
	for i := range replies {
		for r := &replies[i]; r.more(); {
			found = append(found, dated{redpacket.Ref{ID: r.text(), Partition: i}, r.number()})
			err = cmp.Or(err, r.err)
		}
	}
	if err != nil {
		return nil, unavailable("list what is due", err)
	}
	slices.SortFunc(found, func(a, b dated) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ref.ID, b.ref.ID))
	})
	refs := make([]redpacket.Ref, min(limit, len(found)))
	for i := range refs {
		refs[i] = found[i].ref
	}
	return refs, nil
}

// Unsettled implements redpacket.Pool.
func (p *Pool) Unsettled(ctx context.Context, age time.Duration, limit int) ([]redpacket.Claim, error) {
	replies, err := p.everywhere(ctx, func(k *partitionKeys) *call {
		c := newCall(p.scripts.unsettled, 2, 2)
		c.add(k.out, k.acks, age.Milliseconds(), limit)
		return c
	})
	var claims []redpacket.Claim
	for i := range replies {
		for r := &replies[i]; r.more(); {
			e := redpacket.Claim{Ref: redpacket.Ref{Partition: i}, Entry: r.text()}
			e.ID = r.text()
			claims, r.err = appendClaims(claims, e, r.text())
			err = cmp.Or(err, r.err)
		}
	}
	if err != nil {
		return nil, unavailable("list what is unsettled", err)
	}
	slices.SortStableFunc(claims, func(a, b redpacket.Claim) int { return a.At.Compare(b.At) })
	return claims[:min(limit, len(claims))], nil
}
