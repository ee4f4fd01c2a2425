package redisstore

import (
	"context"

	"hongbao/redpacket"
)

// ack removes claims from the outboxes, each on the node of its packet.
func (p *Pool) ack(ctx context.Context, claims []redpacket.Claim) error {
	requests := map[*batcher]*request{}
	for i := range claims {
		if _, ok := entryTime(claims[i].Entry); !ok {
			continue // no entry here has such a name, so there is nothing to forget
		}
		q, err := p.batcher(ctx, claims[i].Ref)
		if err != nil {
			return err
		}
		if requests[q] == nil {
			requests[q] = &request{}
		}
		requests[q].claims = append(requests[q].claims, claims[i])
	}
	return doAll(ctx, requests)
}

// calls returns the script calls of a batch: first its grabs, then its acks.
func (p *Pool) calls(requests []*request) []*call {
	grabs, acks := false, false
	for _, r := range requests {
		grabs = grabs || len(r.attempts) > 0
		acks = acks || len(r.claims) > 0
	}
	var calls []*call
	if grabs {
		calls = p.grabCalls(requests)
	}
	if acks {
		calls = append(calls, p.ackCalls(requests)...)
	}
	return calls
}

// ackedEntry names claims of one outbox entry that are to be removed from it.
type ackedEntry struct {
	ref      redpacket.Ref
	entry    string
	grants   []redpacket.Grant
	requests []*request
}

// ackCalls returns the calls that remove the claims of all requests from the outbox. Claims of one entry that come in
// different requests are merged, because removing a whole entry costs least.
func (p *Pool) ackCalls(requests []*request) (calls []*call) {
	type name struct {
		ref   redpacket.Ref
		entry string
	}
	entries := map[name]*ackedEntry{}
	var partitions [redpacket.Partitions][]*ackedEntry
	for _, r := range requests {
		for i := range r.claims {
			c := &r.claims[i]
			e := entries[name{c.Ref, c.Entry}]
			if e == nil {
				e = &ackedEntry{ref: c.Ref, entry: c.Entry}
				entries[name{c.Ref, c.Entry}] = e
				partition := uint(c.Partition) % redpacket.Partitions
				partitions[partition] = append(partitions[partition], e)
			}
			e.grants = append(e.grants, redpacket.Grant{User: c.User, Share: c.Share})
			if n := len(e.requests); n == 0 || e.requests[n-1] != r {
				e.requests = append(e.requests, r)
			}
		}
	}
	var portions []ackPortion // of the next call
	size := 0
	for partition, entries := range partitions {
		for len(entries) > 0 {
			n := min(maxCall-size, len(entries))
			portions, size = append(portions, ackPortion{&p.partitions[partition], entries[:n]}), size+n
			entries = entries[n:]
			if size == maxCall || p.nodes.sharded() {
				calls = append(calls, p.ackCall(portions, size))
				portions, size = nil, 0
			}
		}
	}
	if portions != nil {
		calls = append(calls, p.ackCall(portions, size))
	}
	return calls
}

// ackPortion is the part of a call that is about one partition.
type ackPortion struct {
	keys    *partitionKeys
	entries []*ackedEntry
}

func (p *Pool) ackCall(portions []ackPortion, entries int) *call {
	c := newCall(p.scripts.ack, 2*len(portions), len(portions)+entries)
	for _, s := range portions {
		c.add(s.keys.out, s.keys.held)
	}
	for _, s := range portions {
		c.add(len(s.entries))
		for _, e := range s.entries {
			c.add(p.entryText(e.entry, e.ref, e.grants))
			c.requests = append(c.requests, e.requests...)
		}
	}
	return c
}
