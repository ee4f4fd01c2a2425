package redpacket

import (
	"context"
	"fmt"
	"sync"

	"hongbao/chat"
)

// together lets users of one packet that come at the same time share a transaction. Those that come while a transaction of the packet runs go
// together in its next one. So a packet whose row is locked delays no other. R is what the ledger answers to all users of a transaction.
type together[R any] struct {
	// static
	background *background
	run        func(ctx context.Context, k *cachedPacket, users []Entrant) (R, error)

	mu      sync.Mutex
	packets map[string][]*waiting[R] // guarded by mu; the calls that wait, for each packet of which a transaction runs
}

// waiting is one call of do.
type waiting[R any] struct {
	Entrant

	ctx    context.Context //nolint:containedctx // of the caller: if it has ended, nothing is done for the user
	result R
	err    error
	done   chan struct{}
}

var errStopping = fmt.Errorf("%w: the server is stopping", chat.ErrUnavailable)

const (
	usersTogether = 1_000
	usersWaiting  = 100_000 // of one packet; more are refused
)

func newTogether[R any](b *background, run func(context.Context, *cachedPacket, []Entrant) (R, error)) together[R] {
	return together[R]{background: b, run: run, packets: map[string][]*waiting[R]{}}
}

func (q *together[R]) do(ctx context.Context, k *cachedPacket, who Entrant) (result R, err error) {
	c := &waiting[R]{Entrant: who, ctx: ctx, done: make(chan struct{})}
	if err := q.add(k, c); err != nil {
		return result, err
	}
	select {
	case <-c.done:
		return c.result, c.err
	case <-ctx.Done():
		return result, fmt.Errorf("%w: the turn of packet %s takes too long: %w", chat.ErrUnavailable, k.packet.ID, ctx.Err())
	}
}

func (q *together[R]) add(k *cachedPacket, c *waiting[R]) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	others, busy := q.packets[k.packet.ID]
	switch {
	case len(others) >= usersWaiting:
		return fmt.Errorf("%w: too many users wait for packet %s", chat.ErrUnavailable, k.packet.ID)
	case q.background.stopping():
		return errStopping
	case !busy && !q.background.start(func() { q.runAll(k) }):
		return errStopping
	}
	q.packets[k.packet.ID] = append(others, c)
	return nil
}

func (q *together[R]) runAll(k *cachedPacket) {
	for batch := q.next(k.packet.ID); batch != nil; batch = q.next(k.packet.ID) {
		users := make([]Entrant, len(batch))
		for i, c := range batch {
			users[i] = c.Entrant
		}
		ctx, cancel := context.WithTimeout(context.Background(), detachedTimeout)
		result, err := q.run(ctx, k, users)
		cancel()
		for _, c := range batch {
			c.result, c.err = result, err
			close(c.done)
		}
	}
}

// next returns the calls of the next transaction, or nil when none wait. It drops those whose callers have gone, and all when the service
// stops.
func (q *together[R]) next(packet string) (batch []*waiting[R]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	others, stopping := q.packets[packet], q.background.stopping()
	for len(others) > 0 && len(batch) < usersTogether {
		c := others[0]
		others = others[1:]
		if stopping || c.ctx.Err() != nil {
			c.err = errStopping
			close(c.done)
			continue
		}
		batch = append(batch, c)
	}
	q.packets[packet] = others
	if len(batch) == 0 {
		delete(q.packets, packet)
	}
	return batch
}
