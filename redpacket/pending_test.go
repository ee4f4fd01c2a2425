package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// decided returns the results that were published as GrabDecided.
func decided(events []chat.Event) (all []redpacket.Result) {
	for _, e := range events {
		if d, ok := e.(redpacket.GrabDecided); ok {
			all = append(all, d.Result)
		}
	}
	return all
}

func (h *testService) decided() []redpacket.Result {
	h.published.mu.Lock()
	defer h.published.mu.Unlock()
	return decided(h.published.events)
}

// grabbing is a grab that runs on a goroutine of its own.
type grabbing struct {
	pending chan redpacket.Result // receives the pending result each time that it is taken
	ended   chan error
	result  redpacket.Result // set when the grab has ended
}

// startGrab runs a grab on a goroutine of its own. If take is set, the pending result is taken as soon as there is
// one.
func (h *testService) startGrab(user string, p redpacket.Packet, take bool) *grabbing {
	g := &grabbing{pending: make(chan redpacket.Result, 10), ended: make(chan error, 1)}
	pending, ended := new(redpacket.PendingGrab), make(chan struct{})
	go func() {
		found, err := h.packets.FindGrab(context.Background(), user, p.ID)
		if err == nil {
			g.result, err = found.Run(context.Background(), "", pending)
		}
		close(ended)
		g.ended <- err
	}()
	if take {
		go takePending(pending, ended, g.pending)
	}
	return g
}

// takePending calls Take repeatedly until the grab has ended, and sends every result to taken.
func takePending(g *redpacket.PendingGrab, ended <-chan struct{}, taken chan<- redpacket.Result) {
	for {
		g.Take(func(r redpacket.Result) { taken <- r })
		select {
		case <-ended:
			return
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// TestPending blocks the ledger and lets a user grab twice. Both grabs must be answered "pending", and both must get
// their outcome as an event when the ledger continues.
func TestPending(t *testing.T) {
	h, ledger := newHeldService(t, "boss", "ann")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	free := ledger.hold()
	first := h.startGrab("ann", p, true)
	if r := <-first.pending; r.Outcome != redpacket.OutcomePending || r.Packet != p.ID || r.Claimed != 1 || r.Count != 3 || r.Amount != 0 || r.Rank != 0 || r.Account != nil {
		t.Errorf("pending: %+v", r)
	}
	again := h.startGrab("ann", p, true)
	if r := <-again.pending; r.Outcome != redpacket.OutcomePending {
		t.Errorf("grabbed again: %+v", r)
	}
	if got := h.decided(); len(got) > 0 {
		t.Errorf("decided too early: %+v", got)
	}
	free()
	for _, g := range []*grabbing{first, again} {
		if err := <-g.ended; err != nil {
			t.Error(err)
		}
	}
	published := map[redpacket.Outcome]int{}
	for _, r := range h.decided() {
		published[r.Outcome]++
		if r.Amount < 1 || r.Rank != 1 || r.At.IsZero() || r.Packet != p.ID {
			t.Errorf("published results %+v", r)
		}
	}
	if published[redpacket.OutcomeWon]+published[redpacket.OutcomeAlready] != 2 || published[redpacket.OutcomeWon] < 1 {
		t.Errorf("published results %v", published)
	}
	if s := h.packets.Stats(); s.Pending != 2 || s.Won+s.Already != 2 {
		t.Errorf("counted %+v", s)
	}
	h.mustBalance(t)
}

// TestNotPending grabs without getting a share: there must be no pending result. It also grabs without taking the
// pending result: then no outcome may be published.
func TestNotPending(t *testing.T) {
	h, ledger := newHeldService(t, "boss", "ann", "bob")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1})
	free := ledger.hold()
	winner := h.startGrab("ann", p, false)
	<-ledger.entered
	late := h.startGrab("bob", p, true)
	if err := <-late.ended; err != nil || len(late.pending) > 0 || late.result.Outcome != redpacket.OutcomeEmpty {
		t.Errorf("a grab without a share: %+v, %v, %d pending results", late.result, err, len(late.pending))
	}
	free()
	if err := <-winner.ended; err != nil || winner.result.Outcome != redpacket.OutcomeWon {
		t.Errorf("the pending result is not taken: %+v, %v", winner.result, err)
	}
	if got := h.decided(); len(got) > 0 {
		t.Errorf("published, though not pending: %+v", got)
	}
	h.packets.Idle()
}

// TestPendingThatFails lets a pending grab end with an unknown outcome. Nothing may be published, and the next grab of
// the user must return the outcome.
func TestPendingThatFails(t *testing.T) {
	h, ledger := newHeldService(t, "boss", "ann")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	free := ledger.hold()
	g := h.startGrab("ann", p, true)
	<-g.pending
	ledger.down.Store(true)
	free()
	if err := <-g.ended; !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("got %+v, %v", g.result, err)
	}
	if got := h.decided(); len(got) > 0 {
		t.Errorf("published %+v", got)
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

// TestPendingOnce lets the Pool grant a grab a share that is already taken, so that the grab is granted a second one.
// The pending result must be given only once.
func TestPendingOnce(t *testing.T) {
	h, ledger := newHeldService(t, "boss", "ann", "bob")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	h.grab(t, "bob", p)
	h.pool.Forget()
	stale := redpacket.Image{Ref: p.Ref, Count: p.Count, Deadline: p.ExpiresAt, Status: redpacket.Open}
	if err := h.pool.Load(t.Context(), stale); err != nil {
		t.Fatal(err)
	}
	free := ledger.hold()
	g := h.startGrab("ann", p, true)
	<-g.pending
	free()
	if err := <-g.ended; err != nil || g.result.Outcome != redpacket.OutcomeWon || g.result.Rank != 2 || len(g.pending) > 0 {
		t.Errorf("%+v, %v, %d more pending results", g.result, err, len(g.pending))
	}
	if got := h.decided(); len(got) != 1 {
		t.Errorf("published %+v", got)
	}
	h.mustBalance(t)
}

// TestPendingOrOutcome takes pending results at random moments around the end of the grabs. Each winner must get the
// outcome exactly once, as the result or as an event.
func TestPendingOrOutcome(t *testing.T) {
	const crowd = 200
	users := []string{"boss"}
	for i := range crowd {
		users = append(users, "u"+strconv.Itoa(i))
	}
	h, _ := newHeldService(t, users...)
	p := h.send(t, "boss", redpacket.SendRequest{Total: crowd, Count: crowd})
	var taken, returned atomic.Int64
	var all sync.WaitGroup
	for _, u := range users[1:] {
		all.Go(func() {
			g := h.startGrab(u, p, true)
			if err := <-g.ended; err != nil || g.result.Outcome != redpacket.OutcomeWon {
				t.Errorf("%+v, %v", g.result, err)
			}
			switch len(g.pending) {
			case 0:
				returned.Add(1)
			case 1:
				taken.Add(1)
			default:
				t.Errorf("the pending result was taken %d times", len(g.pending))
			}
		})
	}
	all.Wait()
	if got := int64(len(h.decided())); got != taken.Load() || h.packets.Stats().Pending != taken.Load() {
		t.Errorf("%d published, %d counted, %d taken, %d returned", got, h.packets.Stats().Pending, taken.Load(), returned.Load())
	}
	h.packets.Idle()
	h.mustBalance(t)
}

// TestFoundGrab refuses a found grab: it must not reach the Pool and must cost no passphrase try. A found grab of a
// finished packet must be answered from memory.
func TestFoundGrab(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 1000)
	pool := &countedPool{Pool: h.pool}
	h.packets = redpacket.New(h.store, pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler), GuessLimiter: h.tries})
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1, Passphrase: "open"})
	find := func(user string) redpacket.FoundGrab {
		g, err := h.packets.FindGrab(t.Context(), user, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for range 10 {
		if g := find("ann"); g.Finished() {
			t.Fatal("an open packet is finished")
		} else {
			g.Refuse()
		}
	}
	if n, s := pool.grabs.Load(), h.packets.Stats(); n != 0 || s.Failed != 10 {
		t.Errorf("refused 10 times: %d grabs reached the pool, %d are counted as failed", n, s.Failed)
	}
	g := find("ann")
	if r, err := g.Run(t.Context(), "open", nil); err != nil || r.Outcome != redpacket.OutcomeWon {
		t.Errorf("%+v, %v", r, err)
	}
	h.packets.Idle()
	grabs := pool.grabs.Load()
	for user, want := range map[string]redpacket.Outcome{"ann": redpacket.OutcomeAlready, "bob": redpacket.OutcomeEmpty} {
		g := find(user)
		if r, err := g.Run(t.Context(), "", nil); err != nil || r.Outcome != want || !g.Finished() || pool.grabs.Load() != grabs {
			t.Errorf("%s, from memory: %+v, %v, finished %t", user, r, err, g.Finished())
		}
	}
}
