package redisstore

import (
	"cmp"
	"context"
	"time"

	"hongbao/redpacket"
)

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
	var found [redpacket.Partitions][]dated
	for i := range replies {
		for r := &replies[i]; r.more(); {
			found[i] = append(found[i], dated{redpacket.Ref{ID: r.text(), Partition: i}, r.number()})
			err = cmp.Or(err, r.err)
		}
	}
	if err != nil {
		return nil, unavailable("list what is due", err)
	}
	var refs []redpacket.Ref
	for _, due := range redpacket.Fairly(found, limit, func(a, b dated) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ref.ID, b.ref.ID))
	}) {
		refs = append(refs, due.ref)
	}
	return refs, nil
}

// Unsettled implements redpacket.Pool.
func (p *Pool) Unsettled(ctx context.Context, age time.Duration, limit int) ([]redpacket.Claim, error) {
	replies, err := p.everywhere(ctx, func(k *partitionKeys) *call {
		c := newCall(p.scripts.unsettled, 1, 2)
		c.add(k.out, age.Milliseconds(), limit)
		return c
	})
	var found [redpacket.Partitions][]redpacket.Claim
	for i := range replies {
		for r := &replies[i]; r.more(); {
			if more, foreign := p.appendClaims(found[i], i, r.text()); foreign == nil { // what we have not written is no claim
				found[i] = more
			}
			err = cmp.Or(err, r.err)
		}
	}
	if err != nil {
		return nil, unavailable("list what is unsettled", err)
	}
	return redpacket.Fairly(found, limit, func(a, b redpacket.Claim) int { return a.At.Compare(b.At) }), nil
}
