package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"hongbao/cmd/hongbao-bench/measure"
	"hongbao/redpacket"
)

// poolRound grabs a batch from our pool, in segments. Between two segments it acknowledges the claims in the outbox,
// which is not measured. The peer's list of claimed shares is not emptied either: both lists are for the database,
// which this match leaves out.
type poolRound struct {
	batch
	pool grabPool
	refs []redpacket.Ref

	marks  [][]atomic.Bool   // of each packet's shares
	claims []redpacket.Claim // of the segment, by number
}

// segment is the number of grabs in a segment: fewer than the outbox holds.
const segment = 8_000

// grabPool is the part of redpacket.Pool that a round needs.
type grabPool interface {
	Grab(ctx context.Context, attempts []redpacket.Attempt) ([]redpacket.Answer, error)
	Load(ctx context.Context, i redpacket.Image) error
	Ack(ctx context.Context, claims []redpacket.Claim) error
}

func newPoolRound(pool grabPool, b batch, name string) *poolRound {
	r := &poolRound{batch: b, pool: pool, claims: make([]redpacket.Claim, segment)}
	for i := range b.packets {
		r.refs = append(r.refs, redpacket.Ref{ID: name + "-" + strconv.Itoa(i), Partition: i % redpacket.Partitions})
		r.marks = append(r.marks, make([]atomic.Bool, b.shares))
	}
	return r
}

// load loads the packets into the pool.
func (r *poolRound) load(ctx context.Context) error {
	return loadAll(ctx, r.pool, r.refs, r.shares)
}

func loadAll(ctx context.Context, pool grabPool, refs []redpacket.Ref, shares int) error {
	deadline := time.Now().Add(time.Hour)
	return each(ctx, refs, func(ctx context.Context, p redpacket.Ref) error {
		return pool.Load(ctx, redpacket.Image{Ref: p, Count: shares, Deadline: deadline, Status: redpacket.Open})
	})
}

// play grabs until all shares are gone or the time budget is used up, and checks the grants. As in the service, a call
// to the pool goes on when the context of its caller ends.
func (r *poolRound) play(ctx context.Context, crowd measure.Crowd) (played measure.Round, err error) {
	detached := context.WithoutCancel(ctx)
	for from := 0; from < r.all() && crowd.Budget > 0; from += segment {
		clear(r.claims)
		done, err := crowd.Call(ctx, func(_ context.Context, i int) (bool, error) {
			if i >= segment || from+i >= r.all() {
				return false, nil
			}
			return true, r.grab(detached, from+i, &r.claims[i])
		})
		if err != nil {
			return measure.Round{}, err
		}
		played.Done += done.Done
		played.Took += done.Took
		crowd.Budget -= done.Took
		if err := r.acknowledge(detached); err != nil {
			return measure.Round{}, err
		}
	}
	return played, r.check(played.Done)
}

func (r *poolRound) grab(ctx context.Context, i int, claim *redpacket.Claim) error {
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
		return fmt.Errorf("share %d of %s is granted twice or does not exist", got.Share, a.ID)
	}
	*claim = redpacket.Claim{Ref: a.Ref, Share: got.Share, User: a.User, Entry: got.Entry}
	return nil
}

// acknowledge takes the segment's claims out of the outbox.
func (r *poolRound) acknowledge(ctx context.Context) error {
	claims := slices.DeleteFunc(slices.Clone(r.claims), func(c redpacket.Claim) bool { return c.Entry == "" })
	for part := range slices.Chunk(claims, 500) {
		if err := r.pool.Ack(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// check verifies that the granted shares are the first of each packet, without a gap: none was lost.
func (r *poolRound) check(done int) error {
	given := 0
	for p := range r.marks {
		hole := false
		for share := range r.marks[p] {
			switch marked := r.marks[p][share].Load(); {
			case marked && hole:
				return fmt.Errorf("%s: share %d is granted, an earlier one is not", r.refs[p].ID, share)
			case marked:
				given++
			default:
				hole = true
			}
		}
	}
	if given != done {
		return fmt.Errorf("%d grabs were granted, %d shares are taken", done, given)
	}
	return nil
}
