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
	must(t, g.Pass(t.Context())) // the one that may pass

	passed := make(chan error, 2)
	wait := func(ctx context.Context) { passed <- g.Pass(ctx) }
	go wait(t.Context())
	<-held.Waiting()
	select {
	case err := <-passed:
		t.Fatalf("a closed gate let a statement pass: %v", err)
	default:
	}
	impatient, leave := context.WithCancel(t.Context())
	go wait(impatient)
	<-held.Waiting()
	leave()
	if err := <-passed; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled statement: %v", err)
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
		t.Errorf("a statement that waited at the kill: %v", err)
	}
	if err := g.Pass(t.Context()); !errors.Is(err, ErrKilled) {
		t.Errorf("after it was killed: %v", err)
	}
}

// TestKilledProcess checks what is lost with a process and what is not.
func TestKilledProcess(t *testing.T) {
	e := newEngines(t)
	n := All()[4] // stores in the request
	i, err := n.Start(t.Context(), e)
	must(t, err)
	p := behaviours()[n.Name].packet("killed", 3)
	must(t, i.Open(t.Context(), p))
	if a, err := i.Grab(t.Context(), p.ID, "ann"); err != nil || a.Verdict != Got {
		t.Fatalf("%+v, %v", a, err)
	}
	i.Kill()
	must(t, i.Stop()) // it has ended
	if a, err := i.Grab(t.Context(), p.ID, "bob"); !errors.Is(err, ErrKilled) {
		t.Errorf("a killed process answered: %+v, %v", a, err)
	}
	e.DB, err = Connect(t.Context(), e.DB.URL(), 2)
	must(t, err)
	t.Cleanup(func() { must(t, e.DB.Close()) })
	if b := stored(t, start(t, n, e), p.ID, 1); b.Paid[0].User != "ann" {
		t.Errorf("%+v", b)
	}
}
