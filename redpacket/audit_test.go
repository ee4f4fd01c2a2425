package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// countedAudits is a Ledger that records the queries of audits. If during is set, it is called in each audit.
type countedAudits struct {
	redpacket.Ledger
	queries []redpacket.AuditQuery
	during  func(ctx context.Context) error
}

func (l *countedAudits) Audit(ctx context.Context, q *redpacket.AuditQuery) (redpacket.Audit, error) {
	l.queries = append(l.queries, *q)
	if l.during != nil {
		if err := l.during(ctx); err != nil {
			return redpacket.Audit{}, err
		}
	}
	return l.Ledger.Audit(ctx, q)
}

// audited is a service that audits in the background, next to those of other instances.
type audited struct {
	*testService
	ledger *countedAudits
}

func newAudited(t *testing.T) *audited {
	h := newTestService(t, "ann")
	h.credit(t, "ann", 100)
	a := &audited{h, &countedAudits{Ledger: h.store}}
	h.packets = a.instance(time.Hour)
	return a
}

// instance is another service on the same database.
func (a *audited) instance(every time.Duration) *redpacket.Service {
	return redpacket.New(a.ledger, a.pool, a.rooms, a.published, redpacket.Options{Now: a.clock.now, Log: slog.New(slog.DiscardHandler), AuditEvery: every})
}

// pass lets the service look once whether an audit is due. It returns the queries of the audits that it began.
func (a *audited) pass(t *testing.T) []redpacket.AuditQuery {
	t.Helper()
	a.ledger.queries = nil
	if err := a.packets.AuditIfDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a.ledger.queries
}

func (a *audited) last(t *testing.T) redpacket.AuditReport {
	t.Helper()
	r, err := a.packets.LastAudit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAuditsInTheBackground audits all rows first, and then what is newer. All instances together audit once in each
// period, and answer the last report.
func TestAuditsInTheBackground(t *testing.T) {
	a := newAudited(t)
	if _, err := a.packets.LastAudit(t.Context()); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("before the first audit: %v, want not found", err)
	}
	first := a.clock.now()
	if got := a.pass(t); len(got) != 1 || got[0].Since != nil || !got[0].Now.Equal(first) {
		t.Fatalf("the first audit: %+v", got)
	}
	heads, err := a.store.Heads(t.Context())
	r := a.last(t)
	if err != nil || len(r.Differences) > 0 || r.Funded != 100 || !r.At.Equal(first) || !r.Checkpoint.Whole.Equal(first) || !slices.Equal(r.Heads, heads) {
		t.Errorf("report %+v, %v, want heads %v", r, err, heads)
	}
	a.credit(t, "ann", 50)
	a.clock.advance(time.Hour - time.Millisecond)
	if got := a.pass(t); len(got) != 0 {
		t.Errorf("an audit before it is time: %+v", got)
	}
	a.clock.advance(time.Millisecond)
	other := a.instance(time.Hour)
	if got := a.pass(t); len(got) != 1 || !slices.Equal(got[0].Since, heads) {
		t.Errorf("the second audit: %+v, want since %v", got, heads)
	}
	if err := other.AuditIfDue(t.Context()); err != nil || len(a.ledger.queries) != 1 {
		t.Errorf("another instance audits, too: %v, %+v", err, a.ledger.queries)
	}
	got, err := other.LastAudit(t.Context())
	if err != nil || got.Funded != 150 || !got.Checkpoint.Whole.Equal(first) || !got.Checkpoint.At.Equal(first.Add(time.Hour)) {
		t.Errorf("the other instance answers %+v, %v", got, err)
	}
}

// TestOneInstanceAudits begins a second audit on another instance while the first one runs, and an hour later.
func TestOneInstanceAudits(t *testing.T) {
	a := newAudited(t)
	other := a.instance(time.Hour)
	look := func() int {
		a.ledger.during = nil
		if err := other.AuditIfDue(t.Context()); err != nil {
			t.Error(err)
		}
		return len(a.ledger.queries)
	}
	a.ledger.during = func(context.Context) error {
		if n := look(); n != 1 {
			t.Errorf("%d audits at once", n)
		}
		a.clock.advance(2 * time.Hour) // the instance counts as dead
		if n := look(); n != 2 {
			t.Errorf("%d audits, want another instance to take over", n)
		}
		return nil
	}
	late := a.clock.now()
	a.pass(t)
	if r := a.last(t); !r.At.Equal(late.Add(2 * time.Hour)) {
		t.Errorf("the last report began at %v: the late audit replaced it", r.At)
	}
}

// TestAskedAudits asks for audits of an instance that begins none by itself.
func TestAskedAudits(t *testing.T) {
	a := newAudited(t)
	a.packets = a.instance(0)
	if got := a.pass(t); len(got) != 0 {
		t.Fatalf("nobody has asked for %+v", got)
	}
	for i, whole := range []bool{false, false, true} {
		a.clock.advance(time.Second)
		at, err := a.packets.AskAudit(t.Context(), whole)
		if err != nil || !at.Equal(a.clock.now()) {
			t.Fatalf("%v, %v", at, err)
		}
		if got := a.pass(t); len(got) != 1 || (got[0].Since == nil) != (i == 0 || whole) || a.last(t).At.Before(at) {
			t.Errorf("asked for %v: %+v", whole, got)
		}
		if got := a.pass(t); len(got) != 0 {
			t.Errorf("asked for once, and there are more: %+v", got)
		}
	}
}

// TestDifferenceIsFoundAgain changes a row that an audit has seen. Once a whole audit has found that, the following ones look
// at all rows, too, until it is repaired.
func TestDifferenceIsFoundAgain(t *testing.T) {
	a := newAudited(t)
	a.pass(t)
	a.exec(t, `update transfers set note = 'forged'`)
	for _, whole := range []bool{true, false, false} {
		a.clock.advance(time.Hour)
		if whole {
			if _, err := a.packets.AskAudit(t.Context(), true); err != nil {
				t.Fatal(err)
			}
		}
		if got := a.pass(t); len(got) != 1 || got[0].Since != nil || len(a.last(t).Differences) != 1 {
			t.Errorf("whole %v: %+v, %+v", whole, got, a.last(t).Differences)
		}
	}
	a.exec(t, `update transfers set note = ''`)
	for _, wantWhole := range []bool{true, false} {
		a.clock.advance(time.Hour)
		if got := a.pass(t); len(got) != 1 || (got[0].Since == nil) != wantWhole || len(a.last(t).Differences) != 0 {
			t.Errorf("repaired: %+v, %+v", got, a.last(t).Differences)
		}
	}
}

// TestStoppedAuditIsBegunAgain stops an instance in the middle of an audit. The next one begins it at once. After a failure
// the next one waits.
func TestStoppedAuditIsBegunAgain(t *testing.T) {
	a := newAudited(t)
	a.pass(t)
	if _, err := a.packets.AskAudit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	stopping, stop := context.WithCancel(t.Context())
	a.ledger.during = func(ctx context.Context) error {
		stop()
		return ctx.Err()
	}
	if err := a.packets.AuditIfDue(stopping); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	failure := errors.New("broken")
	a.ledger.during, a.ledger.queries = func(context.Context) error { return failure }, nil
	if err := a.packets.AuditIfDue(t.Context()); !errors.Is(err, failure) || len(a.ledger.queries) != 1 || a.ledger.queries[0].Since != nil {
		t.Errorf("after the stop: %v, %+v, want a whole audit", err, a.ledger.queries)
	}
	a.ledger.during = nil
	if got := a.pass(t); len(got) != 0 {
		t.Errorf("at once after a failure: %+v", got)
	}
	a.clock.advance(time.Hour)
	if got := a.pass(t); len(got) != 1 || got[0].Since != nil {
		t.Errorf("an hour after the failure: %+v, want a whole audit", got)
	}
}
