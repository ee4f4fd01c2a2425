package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
)

// newHeldService returns a testService with a ledger whose Settle the test can block.
func newHeldService(t *testing.T, users ...string) (*testService, *heldLedger) {
	h := newTestService(t, users...)
	h.credit(t, users[0], 100_000)
	ledger := newHeldLedger(h.store)
	h.packets = redpacket.New(ledger, h.pool, h.rooms, h.published, redpacket.Options{
		Now: h.clock.now, Log: slog.New(slog.DiscardHandler),
	})
	return h, ledger
}

// TestUnknownOutcomeIsFoundByTheNextGrab lets a commit end with an unknown outcome. The grab must say so, and the next grab of the user must return
// the outcome.
func TestUnknownOutcomeIsFoundByTheNextGrab(t *testing.T) {
	h, ledger := newHeldService(t, "boss", "ann")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	ledger.down.Store(true)
	if r, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "ann", Packet: p.ID}); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("got %+v, %v", r, err)
	}
	ledger.down.Store(false)
	if r := h.grab(t, "ann", p); r.Outcome != redpacket.OutcomeAlready {
		t.Errorf("grabbed again: %+v", r)
	}
	h.mustBalance(t)
}

// TestGrabGoesOnAfterItsClientHangsUp ends the context of a grab that has a share and waits for the commit. The claim must
// be settled at once all the same, not by recovery.
func TestGrabGoesOnAfterItsClientHangsUp(t *testing.T) {
	h, ledger := newHeldService(t, "boss", "ann")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	free := ledger.hold()
	ctx, hangUp := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := h.packets.Grab(ctx, redpacket.GrabRequest{User: "ann", Packet: p.ID})
		ended <- err
	}()
	<-ledger.entered
	hangUp()
	free()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	book, err := h.store.Book(t.Context(), p.ID)
	if err != nil || len(book.Claims) != 1 {
		t.Errorf("%d claims, %v", len(book.Claims), err)
	}
	h.mustBalance(t)
}

// TestGrabAfterAStaleGrant lets the Pool grant a grab a share that is already taken. The grab must get another share.
func TestGrabAfterAStaleGrant(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	h.grab(t, "bob", p)
	h.pool.Forget()
	stale := redpacket.Image{Ref: p.Ref, Count: p.Count, Deadline: p.ExpiresAt, Status: redpacket.Open}
	if err := h.pool.Load(t.Context(), stale); err != nil {
		t.Fatal(err)
	}
	if r := h.grab(t, "ann", p); r.Outcome != redpacket.OutcomeWon || r.Rank != 2 {
		t.Errorf("%+v", r)
	}
	h.mustBalance(t)
}

// TestAdmit refuses grabs by Admit: they must not reach the Pool and must cost no passphrase try. A grab of a finished packet must be answered from
// memory, without Admit.
func TestAdmit(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 1000)
	pool := &countedPool{Pool: h.pool}
	h.packets = redpacket.New(h.store, pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler), GuessLimiter: h.tries})
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1, Passphrase: "open"})
	no := errors.New("no")
	grab := redpacket.GrabRequest{User: "ann", Packet: p.ID, Passphrase: "wrong", Admit: func(_ context.Context, room string) (bool, error) {
		if room != p.Room {
			t.Errorf("admitted to room %q", room)
		}
		return false, no
	}}
	for range 10 {
		if _, err := h.packets.Grab(t.Context(), grab); !errors.Is(err, no) {
			t.Errorf("refused with %v", err)
		}
	}
	if n, s := pool.grabs.Load(), h.packets.Stats(); n != 0 || s.Failed != 10 {
		t.Errorf("refused 10 times: %d grabs reached the pool, %d are counted as failed", n, s.Failed)
	}
	if r, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "ann", Packet: p.ID, Passphrase: "open"}); err != nil || r.Outcome != redpacket.OutcomeWon {
		t.Errorf("%+v, %v", r, err)
	}
	h.packets.Idle()
	grabs := pool.grabs.Load()
	for user, want := range map[string]redpacket.Outcome{"ann": redpacket.OutcomeAlready, "bob": redpacket.OutcomeEmpty} {
		grab.User = user
		if r, err := h.packets.Grab(t.Context(), grab); err != nil || r.Outcome != want || pool.grabs.Load() != grabs {
			t.Errorf("%s, from memory: %+v, %v", user, r, err)
		}
	}
}
