package redpacket

import (
	"context"
	"slices"
	"testing"
	"time"
)

// TestCloseSlotsPerPartition uses all slots of one partition: another partition must still have slots. After a close
// has failed in the Pool, the partition must have one slot. After a success it must have all slots again.
func TestCloseSlotsPerPartition(t *testing.T) {
	var p closeSlots
	for n := range closesAtOnce {
		if !p.acquire(3) {
			t.Fatalf("no slot for close %d", n)
		}
	}
	if p.acquire(3) || !p.acquire(4) {
		t.Error("a partition has more slots than it should, or uses another one's")
	}
	for range closesAtOnce {
		p.release(3, true)
	}
	if !p.acquire(3) || p.acquire(3) {
		t.Error("a partition that does not answer runs more or less than one close at a time")
	}
	p.release(3, false)
	if !p.acquire(3) || !p.acquire(3) {
		t.Error("a partition that answers again does not have all its slots again")
	}
}

// TestRetries lets several keys fail. Their pauses must double up to a bound, and be dropped after a success. A key
// for which there is no room must have no pause.
func TestRetries(t *testing.T) {
	r := retries[string]{least: time.Second, most: 3 * time.Second, capacity: 2}
	now := time.Unix(1_700_000_000, 0)
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 3 * time.Second} {
		r.fail("a", now)
		if now = now.Add(pause - 1); !r.paused("a", now) {
			t.Errorf("not paused for %v", pause)
		}
		if now = now.Add(1); r.paused("a", now) {
			t.Errorf("still paused after %v", pause)
		}
	}
	r.forget("a")
	r.fail("a", now)
	if r.paused("a", now.Add(time.Second)) {
		t.Error("forget has not reset the pause")
	}
	r.fail("b", now)
	r.fail("c", now)
	if !r.paused("b", now) || r.paused("c", now) || r.count() != 2 {
		t.Errorf("%d are recorded, capacity 2", r.count())
	}
	r.expire(now.Add(4 * time.Second))
	if r.count() != 2 {
		t.Error("expired too soon")
	}
	if r.expire(now.Add(4*time.Second + 1)); r.count() != 0 {
		t.Error("not expired")
	}
}

// recountedPool is a Pool whose outboxes are full. It records which partitions are recounted.
type recountedPool struct {
	Pool
	recounted []int
}

func (p *recountedPool) Grab(context.Context, []Attempt) ([]Answer, error) {
	return []Answer{{Decision: Busy}}, nil
}

func (p *recountedPool) Recount(_ context.Context, partitions ...int) error {
	p.recounted = append(p.recounted, partitions...)
	return nil
}

// inReach is a Ledger that is never out of reach.
type inReach struct{ Ledger }

func (inReach) OutOfReach() error { return nil }

// TestRecount checks that each partition is recounted in turn, and that a partition that has answered Busy is in the
// next recount.
func TestRecount(t *testing.T) {
	pool := &recountedPool{}
	f := &flow{pool: pool, ledger: inReach{}}
	for range 3 {
		if _, err := f.grab(t.Context(), Attempt{Ref: Ref{ID: "p", Partition: 40}}, nil); err == nil {
			t.Fatal("a full pool has granted a share")
		}
	}
	if err := f.recount(t.Context()); err != nil || len(pool.recounted) != 2 || !slices.Contains(pool.recounted, 40) {
		t.Errorf("after a busy answer: %v, %v", pool.recounted, err)
	}
	pool.recounted = nil
	for range Partitions {
		_ = f.recount(t.Context())
	}
	if slices.Sort(pool.recounted); len(slices.Compact(pool.recounted)) != Partitions {
		t.Errorf("in turn: %v", pool.recounted)
	}
}
