package redpacket

import (
	"context"
	"fmt"
	"sync"

	"hongbao/chat"
	"hongbao/redpacket/crashpoint"
)

// entering lets users that enter one draw at the same time share a transaction. Those that come while a transaction of the draw runs go
// together in its next one. So a draw whose row is locked delays no other.
type entering struct {
	ledger     Ledger
	background *background
	entered    func(k *cachedPacket, e *Entering) // is told what each transaction has done

	mu    sync.Mutex
	draws map[string][]*entry // guarded by mu; the calls that wait, for each draw of which a transaction runs
}

// entry is one call of enter.
type entry struct {
	Entrant

	ctx    context.Context //nolint:containedctx // of the caller: if it has ended, the user is not entered
	result Entering
	err    error
	done   chan struct{}
}

var errStopping = fmt.Errorf("%w: the server is stopping", chat.ErrUnavailable)

const (
	entriesAtOnce  = 1_000
	entriesWaiting = 100_000 // of one draw; more are refused
)

func (q *entering) enter(ctx context.Context, k *cachedPacket, who Entrant) (Entering, error) {
	e := &entry{Entrant: who, ctx: ctx, done: make(chan struct{})}
	if err := q.add(k, e); err != nil {
		return Entering{}, err
	}
	select {
	case <-e.done:
		return e.result, e.err
	case <-ctx.Done():
		return Entering{}, fmt.Errorf("%w: entering a draw takes too long: %w", chat.ErrUnavailable, ctx.Err())
	}
}

func (q *entering) add(k *cachedPacket, e *entry) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, busy := q.draws[k.packet.ID]
	switch {
	case len(waiting) >= entriesWaiting:
		return fmt.Errorf("%w: too many users wait to enter the draw", chat.ErrUnavailable)
	case q.background.stopping():
		return errStopping
	case !busy && !q.background.start(func() { q.run(k) }):
		return errStopping
	}
	q.draws[k.packet.ID] = append(waiting, e)
	return nil
}

func (q *entering) run(k *cachedPacket) {
	for batch := q.next(k.packet.ID); batch != nil; batch = q.next(k.packet.ID) {
		users := make([]Entrant, len(batch))
		for i, e := range batch {
			users[i] = e.Entrant
		}
		ctx, cancel := context.WithTimeout(context.Background(), detachedTimeout)
		result, err := q.ledger.Enter(ctx, k.packet.ID, users)
		cancel()
		crashpoint.Here("enter.after-commit")
		if err == nil && len(result.New) > 0 {
			q.entered(k, &result)
		}
		for _, e := range batch {
			e.result, e.err = result, err
			close(e.done)
		}
	}
}

// next returns the entries of the next transaction, or nil when none wait. It drops those whose callers have gone, and all when the service
// stops.
func (q *entering) next(packet string) (batch []*entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, stopping := q.draws[packet], q.background.stopping()
	for len(waiting) > 0 && len(batch) < entriesAtOnce {
		e := waiting[0]
		waiting = waiting[1:]
		if stopping || e.ctx.Err() != nil {
			e.err = errStopping
			close(e.done)
			continue
		}
		batch = append(batch, e)
	}
	q.draws[packet] = waiting
	if len(batch) == 0 {
		delete(q.draws, packet)
	}
	return batch
}
