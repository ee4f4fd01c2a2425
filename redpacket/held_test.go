package redpacket_test

import (
	"context"
	"sync/atomic"

	"hongbao/chat"
	"hongbao/redpacket"
)

// heldLedger is a ledger whose settling can be held up, or fail.
type heldLedger struct {
	redpacket.Ledger
	entered chan struct{} // a word for each settling that is held up
	gate    atomic.Pointer[chan struct{}]
	down    atomic.Bool
}

func newHeldLedger(l redpacket.Ledger) *heldLedger {
	return &heldLedger{Ledger: l, entered: make(chan struct{}, 1000)}
}

// hold holds up whoever settles from now on, until free is called.
func (l *heldLedger) hold() (free func()) {
	gate := make(chan struct{})
	l.gate.Store(&gate)
	return func() {
		l.gate.Store(nil)
		close(gate)
	}
}

func (l *heldLedger) Settle(ctx context.Context, claims []redpacket.Claim) ([]redpacket.Settlement, error) {
	if gate := l.gate.Load(); gate != nil {
		l.entered <- struct{}{}
		<-*gate
	}
	if l.down.Load() {
		return nil, chat.ErrUnavailable
	}
	return l.Ledger.Settle(ctx, claims)
}

// saidRooms is rooms where some users stand as the test says.
type saidRooms struct {
	redpacket.Rooms
	said map[string]chat.Standing
}

func (r *saidRooms) Standing(ctx context.Context, room, user string) (chat.Standing, error) {
	if st, ok := r.said[user]; ok {
		return st, nil
	}
	return r.Rooms.Standing(ctx, room, user)
}
