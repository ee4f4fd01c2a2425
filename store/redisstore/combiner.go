package redisstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"hongbao/redpacket"
)

// The combiner lets callers of one node share calls: while one is in flight those who come next gather, and fly
// together when it has landed. A lone caller flies at once. A crowd does not wait for the landing: then the node has
// work while the others' answers are read. One flight of all would cost it less, but leave it idle a fourth of the time.

// maxWaiting is how many attempts and claims may wait for one node; who comes on top is turned away.
const maxWaiting = 50_000

// fullFlight is how many asks do not wait for a landing, while fewer than maxFlying are in the air.
const (
	fullFlight = 64
	maxFlying  = 2
)

// ask is what one caller wants of one node: answers to attempts, or claims forgotten.
type ask struct {
	attempts []redpacket.Attempt
	answers  []redpacket.Answer
	claims   []redpacket.Claim

	// written before the flight is done, or, if there is a later, before that is
	err   error
	later chan struct{}
}

func (a *ask) size() int { return len(a.attempts) + len(a.claims) }

// flight is asks that go together.
type flight struct {
	asks []*ask
	size int
	born time.Time // when the first of them came
	done chan struct{}
}

// wait returns when the ask is answered, or its caller must go. The flight goes on without him.
func (f *flight) wait(ctx context.Context, a *ask) error {
	select {
	case <-f.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if a.later != nil {
		select {
		case <-a.later:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return a.err
}

// runways finds the runway of a node, by its address.
type runways struct{ byAddr sync.Map }

func (r *runways) of(p *Pool, node *redis.Client) *runway {
	addr := node.Options().Addr
	found, ok := r.byAddr.Load(addr)
	if !ok {
		found, _ = r.byAddr.LoadOrStore(addr, &runway{pool: p})
	}
	w := found.(*runway)
	w.node.Store(node)
	return w
}

// runway is where the flights to one node start.
type runway struct {
	pool *Pool
	node atomic.Pointer[redis.Client]

	mu sync.Mutex
	// guarded by mu
	flying  int     // flights in the air
	next    *flight // gathering
	waiting int     // attempts and claims not answered yet
}

var errCrowded = errors.New("too many are waiting for this node")

// fly has an ask answered. Who comes first flies himself, for to wake another goroutine is a good part of what a lone grab
// costs; then he cannot leave before patience ends. Not so who has a deadline.
func (w *runway) fly(ctx context.Context, a *ask) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, start, err := w.board(a)
	_, timed := ctx.Deadline()
	switch {
	case err != nil:
		return err
	case !start:
	case timed:
		go w.runAll(f)
	default:
		if next := w.run(f); next != nil {
			go w.runAll(next)
		}
	}
	return f.wait(ctx, a)
}

// board puts the ask on a flight; start: on one that is to be run now.
func (w *runway) board(a *ask) (f *flight, start bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting+a.size() > maxWaiting {
		return nil, false, errCrowded
	}
	w.waiting += a.size()
	if w.next == nil {
		w.next = &flight{born: time.Now(), done: make(chan struct{})}
	}
	f = w.next
	f.asks = append(f.asks, a)
	f.size += a.size()
	if start = w.flying == 0 || w.flying < maxFlying && len(f.asks) >= fullFlight; start {
		w.next = nil
		w.flying++
	}
	return f, start, nil
}

// land gives the next flight, which is to be run now.
func (w *runway) land() *flight {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.next
	w.next = nil
	if f == nil {
		w.flying--
	}
	return f
}

func (w *runway) answered(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting -= n
}

// runAll runs a flight, and then those that gather meanwhile.
func (w *runway) runAll(f *flight) {
	for f != nil {
		f = w.run(f)
	}
}
