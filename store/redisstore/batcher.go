package redisstore

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
)

// A batcher lets concurrent callers share script calls to one Redis node. Requests that arrive while a batch is in
// flight are collected, and are sent together when that batch is answered. A request that finds no batch in flight is
// sent at once.
//
// Up to maxInFlight batches may be in flight: the second keeps Redis busy while the replies of the first are read.
// With only one, Redis would do less work, but be idle for a fourth of the time (go test -bench
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

	// err is the outcome. It is set before batch.done is closed; if retried is not nil, before retried is closed.
	err     error
	retried chan struct{} // closed after a retry outside the batch; nil if there was none
}

func (r *request) size() int { return len(r.attempts) + len(r.claims) }

// batch is a set of requests that are sent together.
type batch struct {
	requests []*request
	size     int       // attempts and claims
	born     time.Time // arrival of the first request; the batch must be answered within patience of it
	done     chan struct{}
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

// batcher collects requests for one node.
type batcher struct {
	pool *Pool
	node atomic.Pointer[redis.Client]

	mu       sync.Mutex // guards the fields below
	inFlight int        // batches sent and not answered
	next     *batch     // the batch that is being collected; nil if there is none
	waiting  int        // attempts and claims not answered yet
}

var errCrowded = errors.New("too many requests wait for this node")

// do adds the request to a batch and waits for its answer. The caller that must send the batch does so on its own
// goroutine, because waking another goroutine is a large part of the cost of a single grab. If that caller has a
// deadline, a new goroutine sends the batch, so that the caller can return at its deadline.
func (q *batcher) do(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b, mustSend, err := q.join(r)
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

// join adds the request to the batch that is being collected. It reports whether the caller must send that batch now.
func (q *batcher) join(r *request) (b *batch, mustSend bool, err error) {
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
	ctx := until(b.born.Add(patience))
	calls := q.pool.calls(b.requests)
	send(ctx, q.node.Load(), calls)
	rest := retryable(calls, 0)
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
		// Callers that were just answered may come back at once. Yielding lets them join the next batch; without it
		// two half-full batches alternate.
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
	q.pool.nodes.retry(ctx, calls)
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
	err := c.err()
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
