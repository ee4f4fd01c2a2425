package redpacket_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/sqlitestore"
)

// modelEngines are the real services over the real engines, which can be restarted, and made to fail.
type modelEngines struct {
	dir     string
	clock   *clock
	store   *sqlitestore.Store
	pool    *memstore.Pool
	rooms   *chat.Service
	packets *redpacket.Service
	fault   fault // of the next call; set only while nothing runs
}

// fault is a method that fails: before it does anything, or its answer is lost.
type fault struct {
	method string
	after  bool
}

type failer interface {
	Fatal(args ...any)
}

func (e *modelEngines) start(t failer) {
	log := slog.New(slog.DiscardHandler)
	store, err := sqlitestore.Open(context.Background(), e.dir, log)
	if err != nil {
		t.Fatal(err)
	}
	e.store, e.pool = store, memstore.NewPool(memstore.Options{Now: e.clock.now})
	e.rooms = chat.New(store, &ear{}, chat.Options{Now: e.clock.now, Log: log})
	e.packets = redpacket.New(faultyLedger{store, e}, faultyPool{e.pool, e}, e.rooms, &ear{}, redpacket.Options{Now: e.clock.now, Log: log})
}

func (e *modelEngines) stop(t failer) {
	e.packets.Idle()
	if err := e.store.Close(); err != nil {
		t.Fatal(err)
	}
}

// failing does the work unless it fails before; an error in place of the answer when it fails at all.
func failing[T any](e *modelEngines, method string, work func() (T, error)) (T, error) {
	var none T
	if e.fault.method != method {
		return work()
	}
	if e.fault.after {
		if _, err := work(); err != nil {
			return none, err
		}
	}
	return none, fmt.Errorf("%s: %w: %w", method, chat.ErrUnavailable, errors.New("failed on purpose"))
}

type faultyPool struct {
	*memstore.Pool
	e *modelEngines
}

func (p faultyPool) Grab(ctx context.Context, attempts []redpacket.Attempt) ([]redpacket.Answer, error) {
	return failing(p.e, "pool.Grab", func() ([]redpacket.Answer, error) { return p.Pool.Grab(ctx, attempts) })
}

type faultyLedger struct {
	*sqlitestore.Store
	e *modelEngines
}

func (l faultyLedger) Settle(ctx context.Context, claims []redpacket.Claim) ([]redpacket.Settlement, error) {
	return failing(l.e, "ledger.Settle", func() ([]redpacket.Settlement, error) { return l.Store.Settle(ctx, claims) })
}

func (l faultyLedger) End(ctx context.Context, c redpacket.Close) (redpacket.Closed, error) {
	return failing(l.e, "ledger.End", func() (redpacket.Closed, error) { return l.Store.End(ctx, c) })
}
