package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/redpacket"
)

// playOpen measures what open packets cost. It makes the same grabs of some packets, first with nothing else open and
// then with very many other open packets. Meanwhile the pool is asked every 200 ms for due packets, as each instance
// does.
func playOpen(ctx context.Context, e *engines, s *testbed) ([]measure.Result, error) {
	few, err := openSide(ctx, e, s, e.size.packets)
	if err != nil {
		return nil, err
	}
	many, err := openSide(ctx, e, s, e.size.open)
	if err != nil {
		return nil, err
	}
	result, err := e.match(ctx, measure.Match{
		Name: fmt.Sprintf("%d packets of %d open, 200 callers", e.size.packets, e.size.open), Unit: "grabs", Ours: many, Peer: few,
		Asked: measure.Asked{AtLeast: 0.8}, // at most 25 % more time for a grab
	})
	return []measure.Result{result}, err
}

// openSide is the side with this number of other open packets. It has a Redis of its own, so that they stay open in
// all rounds.
func openSide(ctx context.Context, e *engines, s *testbed, open int) (measure.Side, error) {
	grabbed := batch{packets: e.size.packets, shares: 100}
	r, err := s.redis(ctx)
	if err != nil {
		return measure.Side{}, err
	}
	store, err := s.redisStore(ctx, r)
	if err != nil {
		return measure.Side{}, err
	}
	pool := store.Pool()
	others := make([]redpacket.Ref, open-grabbed.packets)
	for i := range others {
		others[i] = redpacket.Ref{ID: "other-" + strconv.Itoa(i), Partition: i % redpacket.Partitions}
	}
	if err := loadAll(ctx, pool, others, grabbed.shares); err != nil {
		return measure.Side{}, err
	}
	return measure.Side{Name: fmt.Sprintf("%d open", open), Ready: func(ctx context.Context, round int) (measure.Play, error) {
		p := newPoolRound(pool, grabbed, fmt.Sprintf("grabbed-%d", round))
		return func(ctx context.Context) (played measure.Round, err error) {
			asked := whileAsked(ctx, pool, func() { played, err = p.play(ctx, e.crowd(200)) })
			if err == nil {
				err = asked
			}
			return played, err
		}, p.load(ctx)
	}}, nil
}

// whileAsked runs play and meanwhile calls pool.Due every 200 ms. It returns the first error of Due, after which Due
// is not called again; play still finishes.
func whileAsked(ctx context.Context, pool redpacket.Pool, play func()) (failed error) {
	over := make(chan struct{})
	var repeating sync.WaitGroup
	repeating.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for failed == nil {
			if _, failed = pool.Due(ctx, 200); failed != nil {
				return
			}
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
	})
	play()
	close(over)
	repeating.Wait()
	return failed
}
