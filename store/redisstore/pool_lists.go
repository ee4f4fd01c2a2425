package redisstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
)

// everywhere makes one call for each partition. It returns the replies of the nodes that answer, and fails only if
// none does.
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

// Unsettled implements redpacket.Pool. A partition whose node does not answer is skipped until the next pass.
func (p *Pool) Unsettled(ctx context.Context, age time.Duration, from *redpacket.OutboxCursor, limit int) ([]redpacket.Claim, error) {
	var asked []*call
	var partitions []int
	portion := from.Portion(limit)
	for i := range from {
		if mark := &from[i]; !mark.Done {
			c := newCall(p.scripts.unsettled, 1, 3)
			c.add(p.partitions[i].out, age.Milliseconds(), portion, cmp.Or(mark.After, "-inf"))
			asked, partitions = append(asked, c), append(partitions, i)
		}
	}
	p.nodes.run(ctx, asked...)
	var claims []redpacket.Claim
	var failed error
	answered := 0
	for n, c := range asked {
		mark := &from[partitions[n]]
		items, err := c.cmd.Slice()
		r := reader{items: items, err: err}
		for mark.After = r.text(); r.more(); {
			if more, foreign := p.appendClaims(claims, partitions[n], r.text()); foreign == nil { // a member that no grab wrote is no claim
				claims = more
			}
		}
		if mark.Done = r.err != nil || mark.After == ""; r.err != nil {
			failed = cmp.Or(failed, r.err)
			continue
		}
		answered++
	}
	if answered == 0 && failed != nil {
		return nil, unavailable("list what is unsettled", failed)
	}
	slices.SortStableFunc(claims, func(a, b redpacket.Claim) int { return a.At.Compare(b.At) })
	return claims, nil
}

// Recount implements redpacket.Pool.
func (p *Pool) Recount(ctx context.Context, partitions ...int) error {
	calls := make([]*call, len(partitions))
	for i, partition := range partitions {
		k := p.keys(partition)
		calls[i] = newCall(p.scripts.recount, 2, 1)
		calls[i].add(k.out, k.held, k.image)
	}
	p.nodes.run(ctx, calls...)
	for i, c := range calls {
		if err := c.err(); err != nil {
			return unavailable(fmt.Sprintf("recount partition %d", partitions[i]), err)
		}
	}
	return nil
}

// Outbox implements redpacket.Pool.
func (p *Pool) Outbox(ctx context.Context) (claims int, oldest time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pipe := p.nodes.client.Pipeline()
	var held [redpacket.Partitions]*redis.StringCmd
	var first [redpacket.Partitions]*redis.StringSliceCmd
	for i := range p.partitions {
		held[i], first[i] = pipe.Get(ctx, p.partitions[i].held), pipe.ZRange(ctx, p.partitions[i].out, 0, 0)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i := range p.partitions {
		n, err := held[i].Int()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		if err = cmp.Or(err, first[i].Err()); err != nil {
			return 0, time.Time{}, unavailable("count the outbox", err)
		}
		claims += n
		for _, entry := range first[i].Val() {
			name, _, _ := strings.Cut(entry, " ")
			if at, ours := entryTime(name); ours && (oldest.IsZero() || at.Before(oldest)) {
				oldest = at
			}
		}
	}
	return claims, oldest, nil
}

// Close implements redpacket.Pool.
func (p *Pool) Close(ctx context.Context, r redpacket.Ref, why redpacket.CloseReason) (redpacket.Closing, error) {
	k := p.keys(r.Partition)
	c := newCall(p.scripts.close, 2, 2)
	c.add(k.due, k.image+r.ID, r.ID, int(why))
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
