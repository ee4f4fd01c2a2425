package schemes

import (
	"context"
	"errors"
	"testing"
)

func TestGate(t *testing.T) {
	g := &gate{killed: make(chan struct{})}
	must(t, g.Pass(t.Context()))
	held := g.Hold(1)
	must(t, g.Pass(t.Context())) // the one that may

	passed := make(chan error, 2)
	wait := func(ctx context.Context) { passed <- g.Pass(ctx) }
	go wait(t.Context())
	<-held.Waiting()
	select {
	case err := <-passed:
		t.Fatalf("passes a gate that is shut: %v", err)
	default:
	}
	impatient, leave := context.WithCancel(t.Context())
	go wait(impatient)
	<-held.Waiting()
	leave()
	if err := <-passed; !errors.Is(err, context.Canceled) {
		t.Errorf("who does not want to wait any more: %v", err)
	}
	held.Release()
	must(t, <-passed)
	held.Release()
	must(t, g.Pass(t.Context()))

	g.Hold(0)
	go wait(t.Context())
	g.Kill()
	g.Kill()
	if err := <-passed; !errors.Is(err, ErrKilled) {
		t.Errorf("who waited when it was killed: %v", err)
	}
	if err := g.Pass(t.Context()); !errors.Is(err, ErrKilled) {
		t.Errorf("after it was killed: %v", err)
	}
}

// TestKilledProcess shows what dies with a process, and what does not.
func TestKilledProcess(t *testing.T) {
	e := newEngines(t)
	n := All()[4] // stores in the request
	i, err := n.Start(t.Context(), e)
	must(t, err)
	p := conducts()[n.Name].packet("killed", 3)
	must(t, i.Open(t.Context(), p))
	if a, err := i.Grab(t.Context(), p.ID, "ann"); err != nil || a.Verdict != Got {
		t.Fatalf("%+v, %v", a, err)
	}
	i.Kill()
	must(t, i.Stop()) // it has ended
	if a, err := i.Grab(t.Context(), p.ID, "bob"); !errors.Is(err, ErrKilled) {
		t.Errorf("the dead answer: %+v, %v", a, err)
	}
	e.DB, err = Connect(t.Context(), e.DB.URL(), 2)
	must(t, err)
	t.Cleanup(func() { must(t, e.DB.Close()) })
	if b := stored(t, start(t, n, e), p.ID, 1); b.Paid[0].User != "ann" {
		t.Errorf("%+v", b)
	}
}
