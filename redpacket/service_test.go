package redpacket_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/sqlitestore"
)

// The demonstration that article 1 gives: 10.00 in 5, nine people at once.
func TestNinePeopleFiveShares(t *testing.T) {
	users := []string{"boss", "a", "b", "c", "d", "e", "f", "g", "h"}
	h := newHouse(t, users...)
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 5})

	var mu sync.Mutex
	outcomes := map[redpacket.Outcome]int{}
	var sum redpacket.Money
	var all sync.WaitGroup
	for _, u := range users {
		all.Go(func() {
			r, err := h.packets.Grab(context.Background(), redpacket.Try{User: u, Packet: p.ID})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[r.Outcome]++
			sum += r.Amount
		})
	}
	all.Wait()
	if outcomes[redpacket.OutcomeWon] != 5 || outcomes[redpacket.OutcomeEmpty] != 4 || sum != 1000 {
		t.Errorf("outcomes %v, sum %d", outcomes, sum)
	}
	h.heard.until(t, "packet_done", done(p))
	for _, u := range users {
		first, again := h.grab(t, u, p), h.grab(t, u, p)
		if first.Amount != again.Amount || first.Rank != again.Rank {
			t.Errorf("%s: %+v, then %+v", u, first, again)
		}
	}
	h.mustBalance(t)
}

func TestExpiryGivesBackTheRest(t *testing.T) {
	h := newHouse(t, "boss", "a", "b", "c")
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 5, TTL: time.Minute})
	var won redpacket.Money
	for _, u := range []string{"a", "b", "c"} {
		won += h.grab(t, u, p).Amount
	}
	h.run(t)
	h.clock.advance(time.Minute)
	if r := h.grab(t, "boss", p); r.Outcome != redpacket.OutcomeExpired {
		t.Errorf("a grab at the deadline: %+v", r)
	}
	h.heard.until(t, "packet_done", done(p))
	if got := h.balance(t, "boss"); got != 1000-won {
		t.Errorf("boss has %d, want %d", got, 1000-won)
	}
	if r := h.grab(t, "a", p); r.Outcome != redpacket.OutcomeAlready {
		t.Errorf("a winner asks after the end: %+v", r)
	}
	h.mustBalance(t)
}

// Whatever the Pool forgets, the packet goes on: the first grab loads it again.
func TestPoolForgets(t *testing.T) {
	h := newHouse(t, "boss", "a", "b")
	h.credit(t, "boss", 300)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	first := h.grab(t, "a", p)
	h.pool.Forget()
	if r := h.grab(t, "a", p); r.Outcome != redpacket.OutcomeAlready || r.Amount != first.Amount || r.Rank != 1 {
		t.Errorf("a asks again: %+v, first %+v", r, first)
	}
	if r := h.grab(t, "b", p); r.Outcome != redpacket.OutcomeWon || r.Rank != 2 {
		t.Errorf("b: %+v", r)
	}
	h.mustBalance(t)
}

// A packet whose sender died before it was loaded, and which nobody grabs, is closed by the backstop.
func TestBackstopClosesWhatNobodyLoaded(t *testing.T) {
	h := newHouse(t, "boss")
	h.credit(t, "boss", 300)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3, TTL: time.Minute})
	h.pool.Forget()
	h.clock.advance(time.Minute + 4*time.Second)
	h.run(t)
	h.heard.until(t, "packet_done", done(p))
	if got := h.balance(t, "boss"); got != 300 {
		t.Errorf("boss has %d", got)
	}
	h.mustBalance(t)
}

// A packet that SQL has lost (a standby lagged behind, a backup was older) is not closed again and again for ever.
func TestSQLHasLostThePacket(t *testing.T) {
	h := newHouse(t, "boss")
	lost := redpacket.Image{Ref: redpacket.Ref{ID: "lost"}, Count: 3, Deadline: h.clock.now().Add(time.Minute), Status: redpacket.Open}
	if err := h.pool.Load(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	if _, err := h.pool.Grab(t.Context(), []redpacket.Attempt{{Ref: lost.Ref, User: "boss"}}); err != nil {
		t.Fatal(err)
	}
	h.clock.advance(time.Minute)
	h.packets.Pass(t.Context())
	h.clock.advance(time.Hour)
	if due, err := h.pool.Due(t.Context(), 10); err != nil || len(due) > 0 {
		t.Errorf("still due: %v, %v", due, err)
	}
	if claims, err := h.pool.Unsettled(t.Context(), 0, 10); err != nil || len(claims) > 0 {
		t.Errorf("still unsettled: %v, %v", claims, err)
	}
	if closing, err := h.pool.Close(t.Context(), lost.Ref, false); err != nil || !closing.Missing {
		t.Errorf("its image is still there: %+v, %v", closing, err)
	}
	h.mustBalance(t)
}

func TestCancel(t *testing.T) {
	h := newHouse(t, "boss", "a")
	h.credit(t, "boss", 1000)
	ctx := context.Background()
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	if _, _, err := h.packets.Cancel(ctx, "a", p.ID); !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("a stranger cancels: %v", err)
	}
	for range 2 {
		state, balance, err := h.packets.Cancel(ctx, "boss", p.ID)
		if err != nil || state.Status != redpacket.Cancelled || state.Refunded != 300 || balance != 1000 {
			t.Errorf("cancel: %+v, %d, %v", state, balance, err)
		}
	}
	if r := h.grab(t, "a", p); r.Outcome != redpacket.OutcomeExpired {
		t.Errorf("grab after cancel: %+v", r)
	}
	grabbed := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	h.grab(t, "a", grabbed)
	if _, _, err := h.packets.Cancel(ctx, "boss", grabbed.ID); !errors.Is(err, redpacket.ErrPacketFinished) {
		t.Errorf("cancel after a grab: %v", err)
	}
	h.mustBalance(t)
}

func TestAmountsOfOthersStayHidden(t *testing.T) {
	h := newHouse(t, "boss", "a", "b", "c")
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 3})
	h.grab(t, "a", p)
	shows := func(user string) bool {
		d, err := h.packets.Details(context.Background(), user, p.ID, 0, 50)
		if err != nil {
			t.Fatal(err)
		}
		if d.State.Status == redpacket.Open && d.Proof != nil {
			t.Error("proof before the end")
		}
		return d.ShowAmounts
	}
	if !shows("boss") || !shows("a") || shows("b") {
		t.Error("amounts belong to the sender and to those who claimed")
	}
	h.grab(t, "b", p)
	h.grab(t, "c", p)
	h.heard.until(t, "packet_done", done(p))
	if !shows("boss") || !shows("b") {
		t.Error("once it is done everyone sees the amounts")
	}
}

// A message about a packet never tells what is still secret.
func TestPacketEntryHidesSharesAndSeed(t *testing.T) {
	h := newHouse(t, "boss")
	h.credit(t, "boss", 1000)
	h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 3})
	var body map[string]any
	h.heard.until(t, "packet", func(entries []chat.Entry, _ []chat.Event) bool {
		for _, e := range entries {
			if e.Kind == chat.KindPacket {
				return json.Unmarshal(e.Body, &body) == nil
			}
		}
		return false
	})
	for _, secret := range []string{"seed", "shares", "passphrase"} {
		if _, ok := body[secret]; ok {
			t.Errorf("the entry tells the %s", secret)
		}
	}
	if body["greeting"] != redpacket.DefaultGreeting || body["spread"] != "classic" || body["mode"] != "lucky" {
		t.Errorf("defaults: %v", body)
	}
}

func TestNotForOutsiders(t *testing.T) {
	h := newHouse(t, "boss", "a")
	h.credit(t, "boss", 1000)
	h.signIn(t, "stranger")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 3})
	ctx := context.Background()
	if _, err := h.packets.Grab(ctx, redpacket.Try{User: "stranger", Packet: p.ID}); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("a stranger grabs: %v", err)
	}
	if _, err := h.packets.Grab(ctx, redpacket.Try{User: "a", Packet: "no-such-packet"}); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("an unknown packet: %v", err)
	}
	h.grab(t, "a", p)
	if err := h.rooms.Leave(ctx, person("a"), h.room); err != nil {
		t.Fatal(err)
	}
	if r := h.grab(t, "a", p); r.Outcome != redpacket.OutcomeAlready {
		t.Errorf("a winner who left: %+v", r)
	}
	if _, err := h.rooms.Join(ctx, person("stranger"), h.room); err != nil {
		t.Fatal(err)
	}
	if err := h.rooms.Leave(ctx, person("stranger"), h.room); err != nil {
		t.Fatal(err)
	}
	if _, err := h.packets.Grab(ctx, redpacket.Try{User: "stranger", Packet: p.ID}); !errors.Is(err, chat.ErrNotMember) {
		t.Errorf("a former member: %v", err)
	}
}

// Progress is merged, counts up, and never comes after the end.
func TestProgress(t *testing.T) {
	users := []string{"boss", "a", "b", "c", "d", "e", "f", "g"}
	h := newHouse(t, users...)
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 7})
	for _, u := range users[1:7] {
		h.grab(t, u, p)
	}
	h.heard.until(t, "progress of 6", func(_ []chat.Entry, events []chat.Event) bool {
		last, told := 0, 0
		for _, e := range events {
			if g, ok := e.(redpacket.Progress); ok {
				if told++; g.Claimed <= last || len(g.Latest) > 5 || g.Count != 7 {
					t.Fatalf("progress %+v after %d", g, last)
				}
				last = g.Claimed
			}
		}
		return last == 6 && told < 6
	})
	h.grab(t, "g", p)
	h.heard.until(t, "packet_done", done(p))
}

// slowAnswer is a ledger that commits an adjustment called "slow" and keeps the answer to itself for a while.
type slowAnswer struct {
	*sqlitestore.Store
	committed, answer chan struct{}
}

func (l *slowAnswer) Adjust(ctx context.Context, a redpacket.Adjustment) (redpacket.Account, bool, error) {
	acc, dup, err := l.Store.Adjust(ctx, a)
	if a.Key == "slow" {
		close(l.committed)
		<-l.answer
	}
	return acc, dup, err
}

// TestLastWordAboutMoneyIsTrue: a user hears of two changes, of the earlier one last.
func TestLastWordAboutMoneyIsTrue(t *testing.T) {
	h := newHouse(t, "ann")
	ledger := &slowAnswer{Store: h.store, committed: make(chan struct{}), answer: make(chan struct{})}
	packets := redpacket.New(ledger, h.pool, h.rooms, h.heard, redpacket.Options{Now: h.clock.now})
	credit := func(amount redpacket.Money, key string) {
		if _, _, err := packets.Adjust(context.Background(), "ann", amount, key, ""); err != nil {
			t.Error(err)
		}
	}
	var slow sync.WaitGroup
	slow.Go(func() { credit(10, "slow") })
	<-ledger.committed
	credit(5, "quick")
	close(ledger.answer)
	slow.Wait()

	last, ok := h.heard.events[len(h.heard.events)-1].(redpacket.WalletChanged)
	if !ok || last.Change != 10 || last.Account.Balance != h.balance(t, "ann") {
		t.Errorf("heard last: %+v; the balance is %d", last, h.balance(t, "ann"))
	}
}
