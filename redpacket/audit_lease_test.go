package redpacket_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"hongbao/redpacket"
)

// swappedAudits is a Ledger whose SwapAuditRecord the test may replace.
type swappedAudits struct {
	redpacket.Ledger
	swap func(ctx context.Context, old, next []byte) (bool, error)
}

func (l *swappedAudits) SwapAuditRecord(ctx context.Context, old, next []byte) (bool, error) {
	return l.swap(ctx, old, next)
}

// ask asks for an audit, of all rows or not.
func (a *audited) ask(t *testing.T, whole bool) time.Time {
	t.Helper()
	at, err := a.packets.AskAudit(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestAskedAuditSurvivesItsInstance begins an audit of all rows that an administrator asked for, and stores nothing when it ends, as
// after a kill or a failover. Another instance must audit all rows soon, also if the clock of the first one was ahead.
func TestAskedAuditSurvivesItsInstance(t *testing.T) {
	for _, ahead := range []time.Duration{0, 24 * time.Hour} {
		a := newAudited(t)
		a.pass(t)
		a.packets = a.instance(0)
		asked := a.ask(t, true)
		swaps, failure := 0, errors.New("Postgres has failed over")
		a.ledger.Ledger = &swappedAudits{a.store, func(ctx context.Context, old, next []byte) (bool, error) {
			if swaps++; swaps > 1 {
				return false, failure
			}
			return a.store.SwapAuditRecord(ctx, old, next)
		}}
		a.clock.advance(ahead)
		if err := a.packets.AuditIfDue(t.Context()); !errors.Is(err, failure) || swaps != 2 {
			t.Fatalf("an audit whose end cannot be stored: %v, %d changes of the record", err, swaps)
		}
		a.clock.advance(-ahead)
		a.ledger.Ledger = a.store
		if ahead == 0 {
			a.clock.advance(4 * time.Minute)
			if got := a.pass(t); len(got) != 0 {
				t.Errorf("while the audit may run: %+v", got)
			}
			a.clock.advance(time.Minute)
		}
		if got := a.pass(t); len(got) != 1 || got[0].Since != nil || a.last(t).At.Before(asked) {
			t.Errorf("clock ahead by %v: %+v, want an audit of all rows", ahead, got)
		}
	}
}

// TestAuditBeginsAfterAnUnknownOutcome stores the begin of an audit and says that another instance was faster, as a commit does that is
// tried again after its connection was lost. The audit must begin.
func TestAuditBeginsAfterAnUnknownOutcome(t *testing.T) {
	a := newAudited(t)
	a.pass(t)
	a.ask(t, true)
	lost := false
	a.ledger.Ledger = &swappedAudits{a.store, func(ctx context.Context, old, next []byte) (bool, error) {
		swapped, err := a.store.SwapAuditRecord(ctx, old, next)
		if swapped && !lost {
			lost = true
			return false, err
		}
		return swapped, err
	}}
	if got := a.pass(t); len(got) != 1 || got[0].Since != nil {
		t.Errorf("%+v, want one audit of all rows", got)
	}
	if got := a.pass(t); len(got) != 0 {
		t.Errorf("asked for once, and there are more: %+v", got)
	}
}

// TestAskedDuringAnAudit asks for an audit of all rows while another one runs. It must follow, even by a clock that is behind.
func TestAskedDuringAnAudit(t *testing.T) {
	for _, whole := range []bool{false, true} {
		a := newAudited(t)
		a.pass(t)
		a.ask(t, whole)
		var asked time.Time
		a.ledger.during = func(context.Context) error {
			a.ledger.during = nil
			a.clock.advance(-time.Second)
			asked = a.ask(t, true)
			a.clock.advance(time.Second)
			return nil
		}
		if got := a.pass(t); len(got) != 1 || (got[0].Since == nil) != whole {
			t.Fatalf("the first audit: %+v", got)
		}
		if got := a.pass(t); len(got) != 1 || got[0].Since != nil || a.last(t).At.Before(asked) {
			t.Errorf("the second audit: %+v", got)
		}
	}
}

// TestAskedAuditIsTriedAgain has an audit fail that an administrator asked for. It must be tried again after a minute, and at once if the
// administrator asks again.
func TestAskedAuditIsTriedAgain(t *testing.T) {
	a := newAudited(t)
	a.packets = a.instance(0)
	a.ask(t, false)
	failure := errors.New("broken")
	a.ledger.during = func(context.Context) error { return failure }
	look := func(want int) {
		t.Helper()
		a.ledger.queries = nil
		err := a.packets.AuditIfDue(t.Context())
		if len(a.ledger.queries) != want || errors.Is(err, failure) != (want > 0) {
			t.Errorf("%d audits, %v, want %d", len(a.ledger.queries), err, want)
		}
	}
	look(1)
	look(0)
	a.clock.advance(time.Minute + time.Second) // and the time that it took
	look(1)
	look(0)
	a.ask(t, false)
	look(1)
}

// TestAuditRenewsItsLease runs an audit for longer than a lease lasts. No other instance may begin one.
func TestAuditRenewsItsLease(t *testing.T) {
	a := newAudited(t)
	a.packets.RenewAuditsEvery(time.Millisecond)
	other := a.instance(time.Hour)
	a.ledger.during = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		for range 3 {
			before, err := a.store.AuditRecord(ctx)
			a.clock.advance(4 * time.Minute)
			for stored := before; err == nil && bytes.Equal(stored, before); {
				stored, err = a.store.AuditRecord(ctx)
			}
			if err != nil {
				return err
			}
			if err := other.AuditIfDue(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	if got := a.pass(t); len(got) != 1 {
		t.Errorf("%d audits at once", len(got))
	}
}
