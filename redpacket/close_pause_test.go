package redpacket_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// badImagePool is a Pool whose Close fails for one packet until mended is set. Only Close takes time; all other
// methods return at once.
type badImagePool struct {
	redpacket.Pool
	bad redpacket.Ref

	mu     sync.Mutex
	due    []redpacket.Ref            // guarded by mu
	closes map[string][]time.Duration // guarded by mu; by packet: when each Close came, since begun
	mended bool                       // guarded by mu
	begun  time.Time
}

func (p *badImagePool) Due(context.Context, int) ([]redpacket.Ref, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.due), nil
}

func (p *badImagePool) setDue(due ...redpacket.Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due = due
}

// Close fails for the bad packet. It refuses all other packets as not due, which ends their close without an error.
func (p *badImagePool) Close(_ context.Context, r redpacket.Ref, _ redpacket.CloseReason) (redpacket.Closing, error) {
	p.mu.Lock()
	p.closes[r.ID] = append(p.closes[r.ID], time.Since(p.begun))
	fails := r == p.bad && !p.mended
	p.mu.Unlock()
	time.Sleep(50 * time.Millisecond)
	if fails {
		return redpacket.Closing{}, errors.New("bad image")
	}
	return redpacket.Closing{Refused: true}, nil
}

func (p *badImagePool) closesOf(r redpacket.Ref) []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.closes[r.ID])
}

func (*badImagePool) Unsettled(_ context.Context, _ time.Duration, from *redpacket.OutboxCursor, _ int) ([]redpacket.Claim, error) {
	for i := range from {
		from[i].Done = true
	}
	return nil, nil
}

func (*badImagePool) Outbox(context.Context) (int, time.Time, error) { return 0, time.Time{}, nil }

func (*badImagePool) Recount(context.Context, ...int) error { return nil }

func (*badImagePool) Clocks(context.Context, func() time.Time) ([]redpacket.ClockDifference, error) {
	return nil, nil
}

// emptyLedger is a Ledger without packets that is never out of reach.
type emptyLedger struct{ redpacket.Ledger }

func (emptyLedger) OutOfReach() error { return nil }

func (emptyLedger) Clocks(context.Context, func() time.Time) ([]redpacket.ClockDifference, error) {
	return nil, nil
}

func (emptyLedger) Heads(context.Context) ([]redpacket.Head, error) { return nil, nil }

func (emptyLedger) AuditRecord(context.Context) ([]byte, error) { return nil, nil }

func (emptyLedger) Overdue(context.Context, time.Time, redpacket.Overdue, int) ([]redpacket.Overdue, error) {
	return nil, nil
}

func (emptyLedger) OpenRains(context.Context, redpacket.RainPlan, int) ([]redpacket.RainPlan, error) {
	return nil, nil
}

func (emptyLedger) DeletedRooms(context.Context, string, int) ([]string, string, error) {
	return nil, "", nil
}

func (emptyLedger) Sample(context.Context, time.Time) (redpacket.LedgerSample, error) {
	return redpacket.LedgerSample{}, nil
}

func (emptyLedger) OpenFromBefore(context.Context, string, int) ([]redpacket.Ref, error) {
	return nil, nil
}

// TestBadImageDoesNotStopItsPartition lets the Pool fail every close of one packet. After such a failure only one
// close of the partition may run at a time. Between two tries the bad packet must pause for 2 s. Without that pause it
// would take the only slot in every sweep.
func TestBadImageDoesNotStopItsPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, good := redpacket.Ref{ID: "bad", Partition: 7}, redpacket.Ref{ID: "good", Partition: 7}
		pool := &badImagePool{bad: bad, due: []redpacket.Ref{bad}, closes: map[string][]time.Duration{}, begun: time.Now()}
		s := redpacket.New(emptyLedger{}, pool, nil, nil, redpacket.Options{Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = s.Run(ctx) })
		defer running.Wait()
		defer cancel()

		time.Sleep(150 * time.Millisecond) // the first close of the bad packet has failed
		pool.setDue(bad, good)
		time.Sleep(time.Second)
		if n := len(pool.closesOf(good)); n == 0 {
			t.Error("the good packet was not closed beside the bad one")
		}
		pool.setDue(bad)
		time.Sleep(9 * time.Second)
		tries := pool.closesOf(bad)
		if len(tries) < 4 || len(tries) > 5 {
			t.Errorf("closes of the bad packet at %v, want one about every 2 s", tries)
		}
		for i := 1; i < len(tries); i++ {
			if pause := tries[i] - tries[i-1]; pause < redpacket.CloseLease || pause > redpacket.CloseLease+time.Second {
				t.Errorf("closes of the bad packet at %v, want pauses of about %v", tries, redpacket.CloseLease)
			}
		}

		pool.mu.Lock()
		pool.mended = true
		pool.mu.Unlock()
		time.Sleep(4 * time.Second)
		before := len(pool.closesOf(bad))
		time.Sleep(time.Second)
		if n := len(pool.closesOf(bad)) - before; n < 4 {
			t.Errorf("%d closes within a second after the image was mended, want one in each sweep", n)
		}
	})
}

// busyRows is a Ledger whose rows are locked by other calls: each lookup fails after the patience of a store.
type busyRows struct{ emptyLedger }

// rowsBusyError is the error of busyRows.
type rowsBusyError struct{ error }

func (rowsBusyError) Busy() bool { return true }

func (busyRows) Image(context.Context, string) (redpacket.Image, error) {
	time.Sleep(4 * time.Second)
	return redpacket.Image{}, fmt.Errorf("end packet: %w", rowsBusyError{chat.ErrUnavailable})
}

// closingPool is a badImagePool that lets each close go on.
type closingPool struct{ *badImagePool }

func (p closingPool) Close(_ context.Context, r redpacket.Ref, _ redpacket.CloseReason) (redpacket.Closing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closes[r.ID] = append(p.closes[r.ID], time.Since(p.begun))
	return redpacket.Closing{Reason: redpacket.Expired}, nil
}

// TestBusyCloseIsTriedAgainSoon lets each close of a packet fail because other closes hold its rows. Then the packet is not at fault: the
// pause before the next try must stay short, also after many tries.
func TestBusyCloseIsTriedAgainSoon(t *testing.T) { testTriedAgainSoon(t, busyRows{}) }

// testTriedAgainSoon runs a service for two minutes whose Ledger answers no call within 4 s.
func testTriedAgainSoon(t *testing.T, ledger redpacket.Ledger) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		due := redpacket.Ref{ID: "due", Partition: 7}
		pool := closingPool{&badImagePool{due: []redpacket.Ref{due}, closes: map[string][]time.Duration{}, begun: time.Now()}}
		s := redpacket.New(ledger, pool, nil, nil, redpacket.Options{Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = s.Run(ctx) })
		defer running.Wait()
		defer cancel()
		time.Sleep(2 * time.Minute)
		tries := pool.closesOf(due)
		for i := 1; i < len(tries); i++ {
			if pause := tries[i] - tries[i-1]; pause > 5*time.Second {
				t.Errorf("try %d came %v after the one before, want at most 5 s", i, pause)
			}
		}
		if len(tries) < 20 {
			t.Errorf("%d tries in two minutes", len(tries))
		}
	})
}

// slowEngine is a Ledger that is not out of reach, but does not answer in time.
type slowEngine struct{ emptyLedger }

func (slowEngine) Image(context.Context, string) (redpacket.Image, error) {
	time.Sleep(4 * time.Second)
	return redpacket.Image{}, fmt.Errorf("read the image: %w: connection lost: %w", chat.ErrUnavailable, context.DeadlineExceeded)
}

// TestSlowCloseIsTriedAgainSoon lets each close of a packet end without an answer of the Ledger, as on a machine that is too busy. That says
// nothing about the packet: the pause before the next try must stay short, also after many tries.
func TestSlowCloseIsTriedAgainSoon(t *testing.T) { testTriedAgainSoon(t, slowEngine{}) }

// unloadablePool is a Pool that has lost one packet, and cannot take it again.
type unloadablePool struct{ *badImagePool }

func (p unloadablePool) Close(ctx context.Context, r redpacket.Ref, why redpacket.CloseReason) (redpacket.Closing, error) {
	if closing, err := p.badImagePool.Close(ctx, r, why); err == nil {
		return closing, nil
	}
	return redpacket.Closing{Missing: true}, nil
}

func (unloadablePool) Load(context.Context, redpacket.Image) error {
	return errors.New("out of memory")
}

// openLedger is an emptyLedger in which every packet is open.
type openLedger struct{ emptyLedger }

func (openLedger) Image(_ context.Context, packet string) (redpacket.Image, error) {
	return redpacket.Image{Ref: redpacket.Ref{ID: packet, Partition: 7}, Status: redpacket.Open}, nil
}

// TestPoolThatCannotLoadBlamesNoPacket lets the Pool lose a packet and fail to load it. The Pool is at fault, so the close must be tried every 2 s. After
// failures of its own a packet pauses longer each time.
func TestPoolThatCannotLoadBlamesNoPacket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := redpacket.Ref{ID: "bad", Partition: 7}
		pool := unloadablePool{&badImagePool{bad: bad, due: []redpacket.Ref{bad}, closes: map[string][]time.Duration{}, begun: time.Now()}}
		s := redpacket.New(openLedger{}, pool, nil, nil, redpacket.Options{Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = s.Run(ctx)
		if n := len(pool.closesOf(bad)); n < 20 {
			t.Errorf("%d tries in a minute, want about 25", n)
		}
	})
}
