package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/sqlitestore"
)

// blindLedger does not see packets while blind is set: after a failover to a server that lacks the newest commits, or before a worker of Citus
// has committed. It counts how often it is asked.
type blindLedger struct {
	*sqlitestore.Store
	blind atomic.Bool
	asked atomic.Int32
}

func (l *blindLedger) Image(ctx context.Context, packet string) (redpacket.Image, error) {
	l.asked.Add(1)
	if l.blind.Load() {
		return redpacket.Image{}, chat.ErrNotFound
	}
	return l.Store.Image(ctx, packet)
}

// TestPacketThatCameBackIsFound looks up a packet that the ledger does not see. Until then the id may be answered without the ledger, but after
// Forget, and after some seconds without it, the packet must be found.
func TestPacketThatCameBackIsFound(t *testing.T) {
	for name, wait := range map[string]func(*redpacket.Service){
		"the database is another one": func(s *redpacket.Service) { s.Forget() },
		"ten seconds later":           func(*redpacket.Service) { time.Sleep(10 * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newTestService(t, "ann", "bob")
				h.credit(t, "ann", 100)
				p := h.send(t, "ann", redpacket.SendRequest{Mode: redpacket.Equal, Total: 10, Count: 2})
				ledger := &blindLedger{Store: h.store}
				other := redpacket.New(ledger, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler)})
				grab := func() (redpacket.Result, error) {
					return other.Grab(t.Context(), redpacket.GrabRequest{User: "bob", Packet: p.ID})
				}
				ledger.blind.Store(true)
				for range 100 {
					if _, err := grab(); !errors.Is(err, chat.ErrNotFound) {
						t.Fatalf("%v while the ledger does not see the packet", err)
					}
				}
				if n := ledger.asked.Load(); n != 1 {
					t.Errorf("the ledger was asked %d times at once for one id, want 1", n)
				}
				ledger.blind.Store(false)
				wait(other)
				if got, err := grab(); err != nil || got.Outcome != redpacket.OutcomeWon {
					t.Errorf("%+v, %v; want a share", got, err)
				}
			})
		})
	}
}
