package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
	"hongbao/redpacket/trace"
	"hongbao/store/redisstore/internal/nodes"
)

// A batcher lets concurrent callers share script calls to one Redis node. Requests that arrive while a batch is in
// flight are collected, and are sent together when that batch is answered. A request that finds no batch in flight is
// sent at once.
//
// Up to maxInFlight batches may be in flight: the second keeps Redis busy while the replies of the first are read.
// With only one in flight, Redis would do less work, but be idle for a fourth of the time (go test -bench
// 'Pool$/many/callers=200').

const (
	maxInFlight = 2
	secondBatch = 64     // while one batch is in flight, a second is sent only when it holds this many requests
	maxWaiting  = 50_000 // most unanswered attempts and claims of a node; requests beyond that are refused with errCrowded
)

// request is what one caller sends to one node: attempts to answer, or claims to remove from the outbox.
type request struct {
	attempts []redpacket.Attempt
	answers  []redpacket.Answer
	claims   []redpacket.Claim
	cause    trace.Link // the span that waits for the answer

	// err is the outcome. It is set before batch.done is closed; if retried is not nil, before retried is closed.
	err     error
	retried chan struct{} // closed after a retry outside the batch; nil if there was none
}

func (r *request) size() int { return len(r.attempts) + len(r.claims) }

// batch is a set of requests that are sent together.
type batch struct {
	requests []*request
	size     int       // attempts and claims
	born     time.Time // arrival of the first request; the batch must be answered within nodes.Patience of it
	done     chan struct{}
}

// causes returns the spans that wait for the batch.
func (b *batch) causes() (links []trace.Link) {
	for _, r := range b.requests {
		if !r.cause.IsZero() {
			links = append(links, r.cause)
		}
	}
	return links
}

// wait returns when the request is answered or ctx ends. The batch is sent in either case.
func (b *batch) wait(ctx context.Context, r *request) error {
	select {
	case <-b.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.retried != nil {
		select {
		case <-r.retried:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return r.err
}

// batchers holds the batcher of each node, by address.
type batchers struct{ byAddr sync.Map }

func (s *batchers) of(p *Pool, node *redis.Client) *batcher {
	addr := node.Options().Addr
	found, ok := s.byAddr.Load(addr)
	if !ok {
		found, _ = s.byAddr.LoadOrStore(addr, &batcher{pool: p})
	}
	q := found.(*batcher)
	q.node.Store(node)
	return q
}

// waiting returns how many attempts and claims are not answered yet, over all nodes.
func (s *batchers) waiting() (n int) {
	s.byAddr.Range(func(_, found any) bool {
		q := found.(*batcher)
		q.mu.Lock()
		defer q.mu.Unlock()
		n += q.waiting
		return true
	})
	return n
}

// batcher collects requests for one node.
type batcher struct {
	pool *Pool
	node atomic.Pointer[redis.Client]

	mu       sync.Mutex // guards the fields below
	inFlight int        // batches sent and not answered
	next     *batch     // the batch that is being collected; nil if there is none
	waiting  int        // how many attempts and claims (of grabs and acks) this node has not answered yet
}

var errCrowded = errors.New("too many requests wait for this node")

// do adds the request to a batch and waits for its answer. If the caller must send the batch and ctx has no deadline, the
// caller's own goroutine sends it: waking another goroutine is a large part of the cost of a single grab. Such a caller
// returns only after the batch is answered, even if ctx is cancelled. If ctx has a deadline, a new goroutine sends the batch,
// so that the caller can return at the deadline.
func (q *batcher) do(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.cause = trace.From(ctx)
	b, mustSend, err := q.add(r)
	_, timed := ctx.Deadline()
	switch {
	case err != nil:
		return err
	case !mustSend:
	case timed:
		go q.sendAll(b)
	default:
		if next := q.send(b); next != nil {
			go q.sendAll(next)
		}
	}
	return b.wait(ctx, r)
}

// add adds the request to the batch that is being collected. It reports whether the caller must send that batch now.
func (q *batcher) add(r *request) (b *batch, mustSend bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting+r.size() > maxWaiting {
		return nil, false, errCrowded
	}
	q.waiting += r.size()
	if q.next == nil {
		q.next = &batch{born: time.Now(), done: make(chan struct{})}
	}
	b = q.next
	b.requests = append(b.requests, r)
	b.size += r.size()
	if mustSend = q.inFlight == 0 || q.inFlight < maxInFlight && len(b.requests) >= secondBatch; mustSend {
		q.next = nil
		q.inFlight++
	}
	return b, mustSend, nil
}

// send sends a batch, answers its requests and returns the next batch that is to be sent, if there is one.
//
// Calls that failed only for the moment, for example because their cluster slot is moving, are retried on another
// goroutine. So they do not delay the other requests of the batch.
func (q *batcher) send(b *batch) (next *batch) {
	ctx := until(b.born.Add(q.pool.nodes.Limit()))
	began := time.Now()
	span := trace.Batch("redis script", b.causes())
	calls := q.pool.calls(b.requests)
	nodes.Send(ctx, q.node.Load(), calls)
	span.Number("hongbao.batch", b.size)
	span.End(nil) // the span of each request has its error
	q.pool.batches.Done(b.size, began)
	rest := nodes.Retryable(calls, 0)
	retried := make(chan struct{})
	retrying := markRetried(rest, retried)
	for _, c := range calls {
		if !c.retried {
			c.finish()
		}
	}
	q.answered(b.size - retrying)
	close(b.done)
	if len(rest) > 0 {
		go q.retry(ctx, rest, retried, retrying)
	}
	if len(b.requests) > 1 {
		// Callers that were just answered may come back at once. Yielding lets them join the next batch. Without
		// the yield, two half-full batches alternate.
		for range 3 {
			runtime.Gosched()
		}
	}
	return q.finished()
}

// sendAll sends a batch, and then, one after another, each batch that was collected in the meantime.
func (q *batcher) sendAll(b *batch) {
	for b != nil {
		b = q.send(b)
	}
}

// finished ends a batch. It returns the batch collected meanwhile, which the caller must send in its place, or nil.
func (q *batcher) finished() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.next
	q.next = nil
	if b == nil {
		q.inFlight--
	}
	return b
}

// answered subtracts n answered attempts and claims from waiting.
func (q *batcher) answered(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting -= n
}

// retry repeats failed calls, passes their outcomes to the requests and closes the channel retried.
func (q *batcher) retry(ctx context.Context, calls []*call, retried chan struct{}, size int) {
	nodes.Retry(ctx, q.pool.nodes, calls)
	for _, c := range calls {
		c.finish()
	}
	q.answered(size)
	close(retried)
}

// markRetried marks calls that will be retried. Their requests are answered only when the channel retried is closed.
// It returns how many attempts and claims these requests hold.
func markRetried(calls []*call, retried chan struct{}) (size int) {
	for _, c := range calls {
		c.retried = true
		for _, r := range c.requests {
			if r.retried == nil {
				r.retried = retried
				size += r.size()
			}
		}
	}
	return size
}

// finish passes the outcome of the call to its requests.
func (c *call) finish() {
	err := c.Err()
	if err == nil {
		err = c.answer()
	}
	if err == nil {
		return
	}
	for _, r := range c.requests {
		if r.err == nil {
			r.err = err
		}
	}
}

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
			if size == maxCall || nodes.Sharded(p.nodes.Client) {
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
	c := &call{Call: nodes.NewCall(p.scripts.ack, 2*len(portions), len(portions)+entries)}
	for _, s := range portions {
		c.Add(s.keys.out, s.keys.held)
	}
	for _, s := range portions {
		c.Add(len(s.entries))
		for _, e := range s.entries {
			c.Add(p.entryText(e.entry, e.ref, e.grants))
			c.requests = append(c.requests, e.requests...)
		}
	}
	return c
}

// The outbox of a partition is a sorted set. Besides one placeholder, each member is an entry: the text "time image user share
// user share …", ordered by share. The time, in microseconds, is the entry's name. The image is the key of the packet's image.

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

// until returns a context whose Deadline is t, but which is never done. The Redis driver sets the deadline on its
// connection, so no timer is needed. A timer would cost a single caller more than the rest of the batcher.
func until(t time.Time) context.Context { return deadline{context.Background(), t} }

type deadline struct {
	context.Context //nolint:containedctx // this type is a context
	at              time.Time
}

// Deadline implements context.Context.
func (d deadline) Deadline() (time.Time, bool) { return d.at, true }
