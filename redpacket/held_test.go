package redpacket_test

import (
	"context"
	"sync/atomic"

	"hongbao/chat"
	"hongbao/redpacket"
)

// heldLedger is a Ledger whose Settle a test can block or make fail.
type heldLedger struct {
	redpacket.Ledger
	entered chan struct{} // receives one value for each Settle that blocks
	gate    atomic.Pointer[chan struct{}]
	down    atomic.Bool
}

func newHeldLedger(l redpacket.Ledger) *heldLedger {
	return &heldLedger{Ledger: l, entered: make(chan struct{}, 1000)}
}

// hold makes every later Settle block until the returned function is called.
func (l *heldLedger) hold() (free func()) {
	gate := make(chan struct{})
	l.gate.Store(&gate)
	return func() {
		l.gate.Store(nil)
		close(gate)
	}
}

func (l *heldLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	if gate := l.gate.Load(); gate != nil {
		l.entered <- struct{}{}
		<-*gate
	}
	if l.down.Load() {
		return redpacket.AllUnsettled(len(claims), chat.ErrUnavailable)
	}
	return l.Ledger.Settle(ctx, claims)
}

// fixedRooms is a Rooms in which the test sets the standing of some users.
type fixedRooms struct {
	redpacket.Rooms
	standings map[string]chat.Standing
}

func (r *fixedRooms) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	if st, ok := r.standings[user]; ok {
		return st, nil
	}
	return r.Rooms.Standing(ctx, room, user)
}

func (r *fixedRooms) StoredStanding(ctx context.Context, room, user string) (chat.Standing, error) {
	return r.Standing(ctx, room, user)
}
