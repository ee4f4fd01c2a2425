package redpacket_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/redpacket"
)

// countedPool is a Pool that counts the grabs that reach it.
type countedPool struct {
	redpacket.Pool
	grabs atomic.Int64
}

func (p *countedPool) Grab(ctx context.Context, attempts []redpacket.Attempt) ([]redpacket.Answer, error) {
	p.grabs.Add(int64(len(attempts)))
	return p.Pool.Grab(ctx, attempts)
}

// TestOtherInstancesLearnTheEnd lets one instance close a packet that another instance has cached as open. The other
// instance must soon answer grabs of this packet from memory.
func TestOtherInstancesLearnTheEnd(t *testing.T) {
	h := newTestService(t, "boss", "a", "b")
	h.credit(t, "boss", 100)
	pool := &countedPool{Pool: h.pool}
	other := redpacket.New(h.store, pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	defer func() { _ = other.Run(ctx) }() // Run returns when all goroutines that it started have ended

	p := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 1})
	if r, err := other.Grab(t.Context(), redpacket.GrabRequest{User: "a", Packet: p.ID}); err != nil || r.Outcome != redpacket.OutcomeWon {
		t.Fatalf("%+v, %v", r, err)
	}
	h.run(t)
	h.clock.advance(redpacket.CloseLease)
	h.published.waitFor(t, "packet_done", packetDone(p))
	deadline := time.Now().Add(time.Minute)
	for known := false; !known; {
		before := pool.grabs.Load()
		r, err := other.Grab(t.Context(), redpacket.GrabRequest{User: "b", Packet: p.ID})
		if err != nil || r.Outcome != redpacket.OutcomeEmpty {
			t.Fatalf("%+v, %v", r, err)
		}
		known = pool.grabs.Load() == before
		if time.Now().After(deadline) {
			t.Fatal("every late-comer still reaches the pool")
		}
	}
	if r, err := other.Grab(t.Context(), redpacket.GrabRequest{User: "a", Packet: p.ID}); err != nil || r.Outcome != redpacket.OutcomeAlready || r.Amount != 100 {
		t.Errorf("the winner, from memory: %+v, %v", r, err)
	}
}

// TestCloseInProgressIsNotRememberedAsTheEnd grabs a packet that the Pool has closed and SQL still has open: its close has
// only begun. SQL's book lacks a claim that is settled later. So it must not be kept as the packet's end.
func TestCloseInProgressIsNotRememberedAsTheEnd(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 300)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3, TTL: time.Minute})
	if _, err := h.pool.Grab(t.Context(), []redpacket.Attempt{{Ref: p.Ref, User: "ann"}}); err != nil {
		t.Fatal(err)
	}
	h.clock.advance(time.Minute)
	if closing, err := h.pool.Close(t.Context(), p.Ref, redpacket.CloseDue); err != nil || len(closing.Grants) != 1 {
		t.Fatalf("%+v, %v", closing, err)
	}
	if r := h.grab(t, "bob", p); r.Outcome != redpacket.OutcomeExpired {
		t.Errorf("a grab during the close: %+v", r)
	}
	h.packets.Idle()
	if r := h.grab(t, "ann", p); r.Outcome != redpacket.OutcomeAlready || r.Amount == 0 {
		t.Errorf("the winner asks during the close: %+v", r)
	}
	h.mustBalance(t)
}
