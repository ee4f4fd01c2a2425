package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/redpacket"
)

// poolRound grabs a batch from the pool. Who wins gives his claim to a goroutine that acknowledges many at once, as
// if they had been settled: within the time, for an outbox that only grows is not what anyone runs.
type poolRound struct {
	batch
	pool grabPool
	refs []redpacket.Ref

	marks  [][]atomic.Bool // of each packet's shares
	claims chan redpacket.Claim
}

// grabPool is all of the Pool that a round needs.
type grabPool interface {
	Grab(ctx context.Context, attempts []redpacket.Attempt) ([]redpacket.Answer, error)
	Load(ctx context.Context, i redpacket.Image) error
	Ack(ctx context.Context, claims []redpacket.Claim) error
}

func newPoolRound(pool grabPool, b batch, name string) *poolRound {
	r := &poolRound{batch: b, pool: pool, claims: make(chan redpacket.Claim, 4*acksAtOnce)}
	for i := range b.packets {
		r.refs = append(r.refs, redpacket.Ref{ID: name + "-" + strconv.Itoa(i), Partition: i % redpacket.Partitions})
		r.marks = append(r.marks, make([]atomic.Bool, b.shares))
	}
	return r
}

// load makes the packets known to the pool.
func (r *poolRound) load(ctx context.Context) error {
	return loadAll(ctx, r.pool, r.refs, r.shares)
}

func loadAll(ctx context.Context, pool grabPool, refs []redpacket.Ref, shares int) error {
	deadline := time.Now().Add(time.Hour)
	return each(ctx, refs, func(ctx context.Context, p redpacket.Ref) error {
		return pool.Load(ctx, redpacket.Image{Ref: p, Count: shares, Deadline: deadline, Status: redpacket.Open})
	})
}

// play grabs until all shares are gone or the budget is used up, and checks who got what. As the service does it, a
// call goes on when its caller ends.
func (r *poolRound) play(ctx context.Context, crowd measure.Crowd) (measure.Round, error) {
	var acks sync.WaitGroup
	var ackErr error
	detached := context.WithoutCancel(ctx)
	acks.Go(func() { ackErr = r.acknowledge(detached) })
	begin := time.Now()
	played, err := crowd.Call(ctx, func(_ context.Context, i int) (bool, error) {
		if i >= r.all() {
			return false, nil
		}
		return true, r.grab(detached, i)
	})
	close(r.claims)
	acks.Wait()
	played.Took = time.Since(begin)
	if err == nil {
		err = ackErr
	}
	if err == nil {
		err = r.check(played.Done)
	}
	return played, err
}

func (r *poolRound) grab(ctx context.Context, i int) error {
	p, _ := r.place(i)
	a := redpacket.Attempt{Ref: r.refs[p], User: "u" + strconv.Itoa(i)}
	answers, err := r.pool.Grab(ctx, []redpacket.Attempt{a})
	if err != nil {
		return err
	}
	got := answers[0]
	if got.Decision != redpacket.Granted {
		return fmt.Errorf("grab %d of %s was not granted: %+v", i, a.ID, got)
	}
	if got.Share < 0 || got.Share >= r.shares || r.marks[p][got.Share].Swap(true) {
		return fmt.Errorf("share %d of %s is given twice, or is none", got.Share, a.ID)
	}
	r.claims <- redpacket.Claim{Ref: a.Ref, Share: got.Share, User: a.User, Entry: got.Entry}
	return nil
}

const acksAtOnce = 500

// acknowledge takes claims out of the outbox, many at once, until no more come. When it fails it goes on listening, so
// that nobody waits for it.
func (r *poolRound) acknowledge(ctx context.Context) (failed error) {
	settled := make([]redpacket.Claim, 0, acksAtOnce)
	ack := func() {
		if err := r.pool.Ack(ctx, settled); err != nil && failed == nil {
			failed = err
		}
		settled = settled[:0]
	}
	for c := range r.claims {
		if settled = append(settled, c); len(settled) == acksAtOnce {
			ack()
		}
	}
	if len(settled) > 0 {
		ack()
	}
	return failed
}

// check sees that the shares given are the first of each packet, without a hole: none was lost.
func (r *poolRound) check(done int) error {
	given := 0
	for p := range r.marks {
		hole := false
		for share := range r.marks[p] {
			switch marked := r.marks[p][share].Load(); {
			case marked && hole:
				return fmt.Errorf("%s: share %d is given, one before it is not", r.refs[p].ID, share)
			case marked:
				given++
			default:
				hole = true
			}
		}
	}
	if given != done {
		return fmt.Errorf("%d grabs were granted, %d shares are given", done, given)
	}
	return nil
}
