package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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

// The outbox of a partition is a sorted set. Each of its entries is the text "time image user share user share …",
// ordered by share. The time, in microseconds, is the entry's name. The image is the key of the packet's image.

// appendClaims decodes an entry of a partition's outbox and appends its claims.
func (p *Pool) appendClaims(claims []redpacket.Claim, partition int, entry string) ([]redpacket.Claim, error) {
	name, rest, _ := strings.Cut(entry, " ")
	image, rest, _ := strings.Cut(rest, " ")
	when, ours := entryTime(name)
	id, found := strings.CutPrefix(image, p.keys(partition).image)
	words := strings.Split(rest, " ")
	if !ours || !found || len(words)%2 != 0 {
		return claims, fmt.Errorf("the outbox holds %q", entry)
	}
	c := redpacket.Claim{Ref: redpacket.Ref{ID: id, Partition: partition}, Entry: name, At: when}
	for i := 0; i < len(words); i += 2 {
		share, err := strconv.Atoi(words[i+1])
		if err != nil {
			return claims, err
		}
		c.User, c.Share = words[i], share
		claims = append(claims, c)
	}
	return claims, nil
}

// entryTime returns when the entry with this name was written. ok is false if no entry can have this name.
func entryTime(name string) (when time.Time, ok bool) {
	us, err := strconv.ParseUint(name, 10, 63)
	return time.UnixMilli(int64(us / 1000)), err == nil
}

// entryText encodes an entry with exactly these claims.
func (p *Pool) entryText(name string, r redpacket.Ref, grants []redpacket.Grant) string {
	slices.SortFunc(grants, func(a, b redpacket.Grant) int {
		return cmp.Or(cmp.Compare(a.Share, b.Share), cmp.Compare(a.User, b.User))
	})
	grants = slices.Compact(grants)
	text := []byte(name + " " + p.keys(r.Partition).image + r.ID)
	for _, g := range grants {
		text = append(append(append(text, ' '), g.User...), ' ')
		text = strconv.AppendInt(text, int64(g.Share), 10)
	}
	return string(text)
}
