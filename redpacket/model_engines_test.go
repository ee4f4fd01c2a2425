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

// modelEngines holds the real services over the real engines. A test can restart the services, and make calls of the
// engines fail.
type modelEngines struct {
	dir     string
	clock   *clock
	store   *sqlitestore.Store
	pool    *memstore.Pool
	rooms   *chat.Service
	packets *redpacket.Service
	fault   fault // what the next call meets; set only while nothing runs
}

// fault makes one call of a method fail: before the method does anything, or after its work, so that only its result
// is lost.
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
	e.rooms = chat.New(store, &recorder{}, chat.Options{Now: e.clock.now, Log: log})
	e.packets = redpacket.New(faultyLedger{store, e}, faultyPool{e.pool, e}, e.rooms, &recorder{}, redpacket.Options{Now: e.clock.now, Log: log})
}

func (e *modelEngines) stop(t failer) {
	e.packets.Idle()
	if err := e.store.Close(); err != nil {
		t.Fatal(err)
	}
}

// failing does the work, unless a fault of this method comes before the work. If there is a fault, failing returns an
// error.
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

func (l faultyLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	settled, err := failing(l.e, "ledger.Settle", func() ([]redpacket.Settlement, error) { return l.Store.Settle(ctx, claims), nil })
	if err != nil {
		return redpacket.AllUnsettled(len(claims), err)
	}
	return settled
}

func (l faultyLedger) End(ctx context.Context, c redpacket.Close) (redpacket.Closed, error) {
	return failing(l.e, "ledger.End", func() (redpacket.Closed, error) { return l.Store.End(ctx, c) })
}
