package redisstore

import (
	"context"

	"hongbao/redpacket"
)

// ack forgets claims, each at its own node.
func (p *Pool) ack(ctx context.Context, claims []redpacket.Claim) error {
	asks := map[*runway]*ask{}
	for i := range claims {
		if _, ok := entryTime(claims[i].Entry); !ok {
			continue // of no entry here: there is nothing to forget
		}
		w, err := p.runway(ctx, claims[i].Ref)
		if err != nil {
			return err
		}
		if asks[w] == nil {
			asks[w] = &ask{}
		}
		asks[w].claims = append(asks[w].claims, claims[i])
	}
	return flyAll(ctx, asks)
}

// calls makes the calls of a flight.
func (p *Pool) calls(asks []*ask) []*call {
	grabs, acks := false, false
	for _, a := range asks {
		grabs = grabs || len(a.attempts) > 0
		acks = acks || len(a.claims) > 0
	}
	var calls []*call
	if grabs {
		calls = p.grabCalls(asks)
	}
	if acks {
		calls = append(calls, p.ackCalls(asks)...)
	}
	return calls
}

// acked are the claims of one entry that are to be forgotten.
type acked struct {
	ref    redpacket.Ref
	entry  string
	grants []redpacket.Grant
	asks   []*ask
}

// ackCalls makes the calls that forget the claims of all asks. Whoever settled a part of an entry meets here with
// those who settled the rest: a whole entry costs least.
func (p *Pool) ackCalls(asks []*ask) (calls []*call) {
	type name struct {
		ref   redpacket.Ref
		entry string
	}
	entries := map[name]*acked{}
	var partitions [redpacket.Partitions][]*acked
	for _, a := range asks {
		for i := range a.claims {
			c := &a.claims[i]
			e := entries[name{c.Ref, c.Entry}]
			if e == nil {
				e = &acked{ref: c.Ref, entry: c.Entry}
				entries[name{c.Ref, c.Entry}] = e
				at := uint(c.Partition) % redpacket.Partitions
				partitions[at] = append(partitions[at], e)
			}
			e.grants = append(e.grants, redpacket.Grant{User: c.User, Share: c.Share})
			if n := len(e.asks); n == 0 || e.asks[n-1] != a {
				e.asks = append(e.asks, a)
			}
		}
	}
	var now []done // what the next call is about
	size := 0
	for at, entries := range partitions {
		for len(entries) > 0 {
			n := min(batch-size, len(entries))
			now, size = append(now, done{&p.partitions[at], entries[:n]}), size+n
			entries = entries[n:]
			if size == batch || p.nodes.sharded() {
				calls = append(calls, p.ackCall(now, size))
				now, size = nil, 0
			}
		}
	}
	if now != nil {
		calls = append(calls, p.ackCall(now, size))
	}
	return calls
}

// done is what a call has to forget of one partition.
type done struct {
	keys    *partitionKeys
	entries []*acked
}

func (p *Pool) ackCall(partitions []done, entries int) *call {
	c := newCall(p.scripts.ack, 2*len(partitions), len(partitions)+entries)
	for _, d := range partitions {
		c.add(d.keys.out, d.keys.held)
	}
	for _, d := range partitions {
		c.add(len(d.entries))
		for _, e := range d.entries {
			c.add(p.entryText(e.entry, e.ref, e.grants))
			c.asks = append(c.asks, e.asks...)
		}
	}
	return c
}
