package pool

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// TestBatcherSendsTheNextBatch collects requests during a call: all are answered after it. The first caller may have
// a deadline or send on its own goroutine. A single request that follows is answered, too.
func TestBatcherSendsTheNextBatch(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r.URL())
	i := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 9, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	noError(t, p.Load(t.Context(), i))
	q, err := p.batcher(t.Context(), i.Ref)
	noError(t, err)
	timed, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	grab := func(ctx context.Context, user string) {
		got, err := p.Grab(ctx, []redpacket.Attempt{{Ref: i.Ref, User: user}})
		if err != nil || got[0].Decision != redpacket.Granted {
			t.Errorf("%s: %+v, %v", user, got, err)
		}
	}
	for name, first := range map[string]context.Context{"timed": timed, "untimed": t.Context()} {
		r.Pause()
		var both sync.WaitGroup
		both.Go(func() { grab(first, name+" first") })
		q.await(timed, func() bool { return q.inFlight == 1 })
		both.Go(func() { grab(timed, name+" second") })
		q.await(timed, func() bool { return q.next != nil })
		r.Resume()
		both.Wait()
		grab(timed, name+" third")
		q.await(timed, func() bool { return q.inFlight == 0 })
		if t.Failed() {
			return // ends the test, because the next caller has no deadline and might wait forever
		}
	}
}

// TestBatcherSendsASecondBatch checks that a batch of secondBatch requests is sent while the first batch is in
// flight, and that a third batch waits.
func TestBatcherSendsASecondBatch(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r.URL())
	i := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 999, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	noError(t, p.Load(t.Context(), i))
	q, err := p.batcher(t.Context(), i.Ref)
	noError(t, err)
	r.Pause()
	var all sync.WaitGroup
	for n := range 1 + 2*secondBatch {
		all.Go(func() {
			got, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: strconv.Itoa(n)}})
			if err != nil || got[0].Decision != redpacket.Granted {
				t.Errorf("%d: %+v, %v", n, got, err)
			}
		})
	}
	timed, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	if !q.await(timed, func() bool { return q.inFlight == 2 && q.next != nil && len(q.next.requests) == secondBatch }) {
		t.Error("want two batches in flight and a full one that waits")
	}
	r.Resume()
	all.Wait()
	if !q.await(timed, func() bool { return q.inFlight == 0 && q.next == nil }) {
		t.Error("want no batch in flight and none waiting")
	}
}

// await waits until the condition holds or ctx ends, and reports whether it holds. The condition is evaluated under
// q.mu.
func (q *batcher) await(ctx context.Context, is func() bool) bool {
	for {
		q.mu.Lock()
		yes := is()
		q.mu.Unlock()
		if yes || ctx.Err() != nil {
			return yes
		}
		runtime.Gosched()
	}
}
