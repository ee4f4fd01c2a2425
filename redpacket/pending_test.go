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

// soon is a grab's patience in these tests, and long one that is never over.
const (
	soon = time.Millisecond
	long = time.Hour
)

// pendingHouse is a house where settling can be held up.
func pendingHouse(t *testing.T, after time.Duration, users ...string) (*house, *heldLedger) {
	h := newHouse(t, users...)
	h.credit(t, users[0], 100_000)
	ledger := newHeldLedger(h.store)
	h.packets = redpacket.New(ledger, h.pool, h.rooms, h.heard, redpacket.Options{
		Now: h.clock.now, Log: slog.New(slog.DiscardHandler), PendingAfter: after,
	})
	return h, ledger
}

// decided are the late answers that were heard.
func decided(events []chat.Event) (all []redpacket.Result) {
	for _, e := range events {
		if d, ok := e.(redpacket.GrabDecided); ok {
			all = append(all, d.Result)
		}
	}
	return all
}

func (h *house) decided() []redpacket.Result {
	h.heard.mu.Lock()
	defer h.heard.mu.Unlock()
	return decided(h.heard.events)
}

// waiter is a redpacket.Waiter.
type waiter func(redpacket.Result) bool

func (w waiter) Pending(r redpacket.Result) bool { return w(r) }

// grabbing is a grab under way.
type grabbing struct {
	pending chan redpacket.Result
	ended   chan error
	result  redpacket.Result // once it has ended
}

func (h *house) startGrab(user string, p redpacket.Packet, heed bool) *grabbing {
	g := &grabbing{pending: make(chan redpacket.Result, 10), ended: make(chan error, 1)}
	go func() {
		var err error
		g.result, err = h.packets.Grab(context.Background(), redpacket.Try{User: user, Packet: p.ID, Waiter: waiter(func(r redpacket.Result) bool {
			g.pending <- r
			return heed
		})})
		g.ended <- err
	}()
	return g
}

// TestPending: while storage is slow a winner hears that he waits, and then how it ended; so does who asks again meanwhile.
func TestPending(t *testing.T) {
	h, ledger := pendingHouse(t, soon, "boss", "ann")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	free := ledger.hold()
	first := h.startGrab("ann", p, true)
	if r := <-first.pending; r.Outcome != redpacket.OutcomePending || r.Packet != p.ID || r.Claimed != 1 || r.Count != 3 || r.Amount != 0 || r.Rank != 0 || r.Balance != nil {
		t.Errorf("pending: %+v", r)
	}
	again := h.startGrab("ann", p, true)
	if r := <-again.pending; r.Outcome != redpacket.OutcomePending {
		t.Errorf("asked again: %+v", r)
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
	late := map[redpacket.Outcome]int{}
	for _, r := range h.decided() {
		late[r.Outcome]++
		if r.Amount < 1 || r.Rank != 1 || r.At.IsZero() || r.Packet != p.ID {
			t.Errorf("late answer %+v", r)
		}
	}
	if late[redpacket.OutcomeWon]+late[redpacket.OutcomeAlready] != 2 || late[redpacket.OutcomeWon] < 1 {
		t.Errorf("late answers %v", late)
	}
	if s := h.packets.Stats(); s.Pending != 2 || s.Won+s.Already != 2 {
		t.Errorf("counted %+v", s)
	}
	h.mustBalance(t)
}

// TestNotPending: nobody hears it who is answered in time, who gets nothing, or whom it cannot be told.
func TestNotPending(t *testing.T) {
	h, ledger := pendingHouse(t, long, "boss", "ann", "bob")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1})
	free := ledger.hold()
	quick := h.startGrab("ann", p, true)
	<-ledger.entered
	free()
	if err := <-quick.ended; err != nil || len(quick.pending) > 0 || quick.result.Outcome != redpacket.OutcomeWon {
		t.Errorf("in time: %+v, %v, %d words", quick.result, err, len(quick.pending))
	}

	h, ledger = pendingHouse(t, -time.Second, "boss", "ann", "bob")
	p = h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1})
	free = ledger.hold()
	deaf := h.startGrab("ann", p, false)
	<-deaf.pending
	loser := h.startGrab("bob", p, true)
	if err := <-loser.ended; err != nil || len(loser.pending) > 0 || loser.result.Outcome != redpacket.OutcomeEmpty {
		t.Errorf("who gets nothing: %+v, %v, %d words", loser.result, err, len(loser.pending))
	}
	free()
	if err := <-deaf.ended; err != nil || deaf.result.Outcome != redpacket.OutcomeWon {
		t.Errorf("whom it cannot be told: %+v, %v", deaf.result, err)
	}
	if got := h.decided(); len(got) > 0 {
		t.Errorf("pushed to who was told nothing: %+v", got)
	}
	h.packets.Idle()
}

// TestPendingThatFails: nothing is pushed of what nobody knows; asking again tells.
func TestPendingThatFails(t *testing.T) {
	h, ledger := pendingHouse(t, soon, "boss", "ann")
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
		t.Errorf("pushed %+v", got)
	}
	ledger.down.Store(false)
	if r := h.grab(t, "ann", p); r.Outcome != redpacket.OutcomeAlready {
		t.Errorf("asked again: %+v", r)
	}
	h.mustBalance(t)
}

// TestPendingOnce: a grab that is granted a second share, because the Pool did not know that the first was taken, waits once.
func TestPendingOnce(t *testing.T) {
	h, ledger := pendingHouse(t, -time.Second, "boss", "ann", "bob")
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
		t.Errorf("%+v, %v, %d words more", g.result, err, len(g.pending))
	}
	if got := h.decided(); len(got) != 1 {
		t.Errorf("pushed %+v", got)
	}
	h.mustBalance(t)
}

// TestPendingOrOutcome: however the two cross, each winner hears of his share in exactly one way.
func TestPendingOrOutcome(t *testing.T) {
	const crowd = 200
	users := []string{"boss"}
	for i := range crowd {
		users = append(users, "u"+strconv.Itoa(i))
	}
	h, _ := pendingHouse(t, soon, users...)
	p := h.send(t, "boss", redpacket.SendRequest{Total: crowd, Count: crowd})
	var told, returned atomic.Int64
	var all sync.WaitGroup
	for _, u := range users[1:] {
		all.Go(func() {
			var pending, over atomic.Bool
			r, err := h.packets.Grab(context.Background(), redpacket.Try{User: u, Packet: p.ID, Waiter: waiter(func(redpacket.Result) bool {
				if pending.Swap(true) || over.Load() {
					t.Error("told twice, or after the outcome")
				}
				return true
			})})
			over.Store(true)
			if err != nil || r.Outcome != redpacket.OutcomeWon {
				t.Errorf("%+v, %v", r, err)
			}
			if pending.Load() {
				told.Add(1)
			} else {
				returned.Add(1)
			}
		})
	}
	all.Wait()
	if got := int64(len(h.decided())); got != told.Load() || h.packets.Stats().Pending != told.Load() {
		t.Errorf("%d pushed, %d counted, %d told pending, %d not", got, h.packets.Stats().Pending, told.Load(), returned.Load())
	}
	h.packets.Idle()
	h.mustBalance(t)
}

// TestAdmitIsAskedBeforeThePool: what is answered from memory asks nobody; a refusal ends the grab, and takes no try.
func TestAdmitIsAskedBeforeThePool(t *testing.T) {
	h := newHouse(t, "boss", "ann", "bob")
	h.credit(t, "boss", 1000)
	pool := &countedPool{Pool: h.pool}
	h.packets = redpacket.New(h.store, pool, h.rooms, h.heard, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler), Tries: h.tries})
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1, Passphrase: "open"})
	asked := 0
	try := func(user string, admitted error) (redpacket.Outcome, error) {
		r, err := h.packets.Grab(t.Context(), redpacket.Try{User: user, Packet: p.ID, Passphrase: "open", Admit: func(context.Context, string) error {
			asked++
			return admitted
		}})
		return r.Outcome, err
	}
	for range 10 {
		if _, err := try("ann", &chat.RateError{After: time.Second}); !errors.Is(err, chat.ErrRateLimited) {
			t.Fatalf("not admitted: %v", err)
		}
	}
	if n := pool.grabs.Load(); n != 0 {
		t.Errorf("%d came to the pool", n)
	}
	if outcome, err := try("ann", nil); err != nil || outcome != redpacket.OutcomeWon {
		t.Errorf("admitted: %v, %v", outcome, err)
	}
	h.packets.Idle()
	asked = 0
	for user, want := range map[string]redpacket.Outcome{"ann": redpacket.OutcomeAlready, "bob": redpacket.OutcomeEmpty} {
		if outcome, err := try(user, chat.ErrRateLimited); err != nil || outcome != want || asked > 0 {
			t.Errorf("%s, from memory: %v, %v, asked %d times", user, outcome, err, asked)
		}
	}
}
