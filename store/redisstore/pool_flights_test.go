package redisstore

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

// TestPoolFliesOn: who gathers while another's call is in flight is answered after it, whether that one has a deadline or
// flies himself; and so is who comes alone then.
func TestPoolFliesOn(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r)
	i := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 9, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	if err := p.Load(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	w, err := p.runway(t.Context(), i.Ref)
	if err != nil {
		t.Fatal(err)
	}
	patient, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	grab := func(ctx context.Context, user string) {
		got, err := p.Grab(ctx, []redpacket.Attempt{{Ref: i.Ref, User: user}})
		if err != nil || got[0].Decision != redpacket.Granted {
			t.Errorf("%s: %+v, %v", user, got, err)
		}
	}
	for name, first := range map[string]context.Context{"timed": patient, "lone": t.Context()} {
		r.Pause()
		var both sync.WaitGroup
		both.Go(func() { grab(first, name+" first") })
		w.await(patient, func() bool { return w.flying == 1 })
		both.Go(func() { grab(patient, name+" second") })
		w.await(patient, func() bool { return w.next != nil })
		r.Resume()
		both.Wait()
		grab(patient, name+" third")
		w.await(patient, func() bool { return w.flying == 0 })
		if t.Failed() {
			return // else who is next, and has no deadline, might wait for ever
		}
	}
}

// TestPoolFliesBeside: a crowd does not wait for the landing of who came before, another one does.
func TestPoolFliesBeside(t *testing.T) {
	r := storetest.Redis(t)
	p := poolOn(t, r)
	i := redpacket.Image{Ref: redpacket.Ref{ID: "p"}, Count: 999, Deadline: time.Now().Add(time.Hour), Status: redpacket.Open}
	if err := p.Load(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	w, err := p.runway(t.Context(), i.Ref)
	if err != nil {
		t.Fatal(err)
	}
	r.Pause()
	var all sync.WaitGroup
	for n := range 1 + 2*fullFlight {
		all.Go(func() {
			got, err := p.Grab(t.Context(), []redpacket.Attempt{{Ref: i.Ref, User: strconv.Itoa(n)}})
			if err != nil || got[0].Decision != redpacket.Granted {
				t.Errorf("%d: %+v, %v", n, got, err)
			}
		})
	}
	patient, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if !w.await(patient, func() bool { return w.flying == 2 && w.next != nil && len(w.next.asks) == fullFlight }) {
		t.Error("two flights in the air and a full one that waits are not to be seen")
	}
	r.Resume()
	all.Wait()
	if !w.await(patient, func() bool { return w.flying == 0 && w.next == nil }) {
		t.Error("not all have landed")
	}
}

// await waits until this is so of the runway, and tells whether it is.
func (w *runway) await(ctx context.Context, is func() bool) bool {
	for {
		w.mu.Lock()
		yes := is()
		w.mu.Unlock()
		if yes || ctx.Err() != nil {
			return yes
		}
		runtime.Gosched()
	}
}
