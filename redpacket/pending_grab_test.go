package redpacket

import (
	"sync"
	"testing"
)

// startPending returns a PendingGrab to which a share was granted.
func startPending() *PendingGrab {
	g := new(PendingGrab)
	g.begin(&Packet{Ref: Ref{ID: "p"}, Count: 9})
	g.granted(3)
	return g
}

// neverPending fails the test if it is called.
func neverPending(t *testing.T) func(Result) {
	return func(r Result) { t.Errorf("answered with %+v", r) }
}

// TestPendingGrab: the pending result is taken once, after the grant and before the end.
func TestPendingGrab(t *testing.T) {
	g := new(PendingGrab)
	g.begin(&Packet{})
	if g.Take(neverPending(t)) {
		t.Error("taken before a share was granted")
	}
	if g.finish() {
		t.Error("finish reports that the result was taken")
	}
	g = startPending()
	g.granted(5) // a second share of the same grab
	var r Result
	if ok := g.Take(func(pending Result) { r = pending }); !ok || r != (Result{Packet: "p", Outcome: OutcomePending, Claimed: 3, Count: 9}) {
		t.Errorf("after the grant: %+v, %t", r, ok)
	}
	if g.Take(neverPending(t)) {
		t.Error("taken twice")
	}
	if !g.finish() {
		t.Error("finish does not report that the result was taken")
	}
	g = startPending()
	if g.finish() {
		t.Error("finish reports that the result was taken")
	}
	if g.Take(neverPending(t)) {
		t.Error("taken after the end")
	}
}

// TestPendingGrabFinishRace calls Take and finish at the same time. finish must return true exactly if Take has
// succeeded.
func TestPendingGrabFinishRace(t *testing.T) {
	for range 2000 {
		g, took := startPending(), false
		var taker sync.WaitGroup
		answered := false
		taker.Go(func() { took = g.Take(func(Result) { answered = true }) })
		finished := g.finish()
		if finished && !answered { // g.finish has waited for the answer, so this is no race
			t.Fatal("the grab finished before its pending answer was given")
		}
		taker.Wait()
		if finished != took {
			t.Fatalf("finish returned %t, Take %t", finished, took)
		}
	}
}
