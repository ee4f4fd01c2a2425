package redpacket_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/storetest"
)

// stallingLedger settles nothing while it is stalled: each call takes a second and fails, as beside a locked row. While it is down, it knows
// that its engine is out of reach.
type stallingLedger struct {
	redpacket.Ledger
	stalled, down atomic.Bool
}

func (l *stallingLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	if l.stalled.Load() || l.down.Load() {
		time.Sleep(time.Second)
		return redpacket.AllUnsettled(len(claims), chat.ErrUnavailable)
	}
	return l.Ledger.Settle(ctx, claims)
}

func (l *stallingLedger) OutOfReach() error {
	if l.down.Load() {
		return chat.ErrUnavailable
	}
	return l.Ledger.OutOfReach()
}

// newStallingService returns a service over a stallingLedger, whose clock is that of the bubble. Users named user-0 to user-<crowd-1> are members.
func newStallingService(t *testing.T, crowd int) (*testService, *stallingLedger) {
	t.Helper()
	h := newTestService(t, "boss")
	ledger := &stallingLedger{Ledger: h.store}
	rooms := &fixedRooms{Rooms: h.rooms, standings: map[string]chat.Standing{"boss": {In: true, Ever: true}}}
	for i := range crowd {
		rooms.standings[fmt.Sprint("user-", i)] = chat.Standing{In: true, Ever: true}
	}
	h.pool = memstore.NewPool(memstore.Options{})
	h.packets = redpacket.New(ledger, h.pool, rooms, h.published, redpacket.Options{Log: slog.New(slog.DiscardHandler)})
	h.credit(t, "boss", 1_000_000)
	return h, ledger
}

// grabs lets the users grab, with a pause before each grab. It returns how many grabs were refused as unavailable. Others must have won.
func (h *testService) grabs(t *testing.T, p redpacket.Packet, from, to int, pause time.Duration) (refused int) {
	t.Helper()
	var all sync.WaitGroup
	var count atomic.Int64
	for user := from; user < to; user++ {
		time.Sleep(pause)
		all.Go(func() {
			r, err := h.packets.Grab(context.Background(), redpacket.GrabRequest{User: fmt.Sprint("user-", user), Packet: p.ID})
			switch {
			case errors.Is(err, chat.ErrUnavailable):
				count.Add(1)
			case err != nil || r.Outcome != redpacket.OutcomeWon && r.Outcome != redpacket.OutcomeAlready:
				t.Errorf("user %d: %+v, %v", user, r, err)
			}
		})
	}
	all.Wait()
	return int(count.Load())
}

// TestStalledPacketLeavesTheOutboxToOthers lets no claim of a packet be settled. When the service has noticed, grabs of the packet must be
// refused before the Pool grants them, but for one in 250 ms. When claims can be settled again, the grabs must win.
func TestStalledPacketLeavesTheOutboxToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const first, crowd, tries = 100, 300, 20 // tries: 200 grabs, one every 25 ms, take 5 s
		h, ledger := newStallingService(t, crowd)
		p := h.send(t, "boss", redpacket.SendRequest{Total: crowd + 1, Count: crowd + 1})
		ledger.stalled.Store(true)
		if n := h.grabs(t, p, 0, first, 0); n != first {
			t.Errorf("%d of %d grabs were refused", n, first)
		}
		before := len(storetest.Unsettled(t, h.pool, 0))
		if n := h.grabs(t, p, first, crowd, 25*time.Millisecond); n != crowd-first {
			t.Errorf("%d of %d grabs were refused", n, crowd-first)
		}
		if more := len(storetest.Unsettled(t, h.pool, 0)) - before; before != first || more < tries-1 || more > tries+1 {
			t.Errorf("the outbox held %d claims of %d grabs, and holds %d more after %d grabs, want about %d more", before, first, more, crowd-first, tries)
		}
		ledger.stalled.Store(false)
		time.Sleep(250 * time.Millisecond)
		h.grabs(t, p, 0, 1, 0) // the one that is tried
		if n := h.grabs(t, p, 1, crowd, 0); n != 0 {
			t.Errorf("%d grabs were refused, though claims can be settled again", n)
		}
		h.mustBalance(t)
	})
}

// TestLedgerThatIsDownLeavesNothingInTheOutbox lets the ledger know that its engine is out of reach. Grabs must be refused before the Pool
// grants them. When the engine is back, they must win, and recovery must empty the outbox.
func TestLedgerThatIsDownLeavesNothingInTheOutbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd = 20
		h, ledger := newStallingService(t, crowd)
		first := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 100})
		second := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 100})
		ledger.stalled.Store(true) // the service has not noticed yet
		if n := h.grabs(t, first, 0, crowd, 0); n != crowd {
			t.Errorf("%d of %d were refused", n, crowd)
		}
		ledger.down.Store(true)
		waiting := len(storetest.Unsettled(t, h.pool, 0))
		began := time.Now()
		for range 10 {
			if n := h.grabs(t, second, 0, crowd, 0); n != crowd {
				t.Errorf("%d of %d were refused", n, crowd)
			}
		}
		if now := len(storetest.Unsettled(t, h.pool, 0)); waiting != crowd || now != waiting || time.Since(began) > 0 {
			t.Errorf("the outbox held %d claims and holds %d after %v, want %d at once", waiting, now, time.Since(began), crowd)
		}
		ledger.stalled.Store(false)
		ledger.down.Store(false)
		if a, b := h.grabs(t, first, 0, crowd, 0), h.grabs(t, second, 0, crowd, 0); a+b != 0 {
			t.Errorf("%d are refused when it is back", a+b)
		}
		h.packets.Idle()
		time.Sleep(redpacket.RecoverAge) // a grab by a user that already has a share acks no claim
		h.packets.Pass(t.Context())
		if left := storetest.Unsettled(t, h.pool, 0); len(left) > 0 {
			t.Errorf("still in the outbox: %+v", left)
		}
		h.mustBalance(t)
	})
}
