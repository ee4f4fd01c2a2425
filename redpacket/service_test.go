package redpacket_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/sqlitestore"
	"hongbao/store/storetest"
)

// TestNinePeopleFiveShares sends 10.00 in 5 shares and lets nine users grab at the same time. It is the demonstration
// of the first published article on such programs.
func TestNinePeopleFiveShares(t *testing.T) {
	users := []string{"boss", "a", "b", "c", "d", "e", "f", "g", "h"}
	h := newTestService(t, users...)
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 5})

	var mu sync.Mutex
	outcomes := map[redpacket.Outcome]int{}
	var sum redpacket.Money
	var all sync.WaitGroup
	for _, u := range users {
		all.Go(func() {
			r, err := h.packets.Grab(context.Background(), redpacket.GrabRequest{User: u, Packet: p.ID})
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
	h.published.waitFor(t, "packet_done", packetDone(p))
	for _, u := range users {
		first, again := h.grab(t, u, p), h.grab(t, u, p)
		if first.Amount != again.Amount || first.Rank != again.Rank {
			t.Errorf("%s: %+v, then %+v", u, first, again)
		}
	}
	h.mustBalance(t)
}

func TestExpiryGivesBackTheRest(t *testing.T) {
	h := newTestService(t, "boss", "a", "b", "c")
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
	h.published.waitFor(t, "packet_done", packetDone(p))
	if got := h.balance(t, "boss"); got != 1000-won {
		t.Errorf("boss has %d, want %d", got, 1000-won)
	}
	if r := h.grab(t, "a", p); r.Outcome != redpacket.OutcomeAlready {
		t.Errorf("a winner asks after the end: %+v", r)
	}
	h.mustBalance(t)
}

// TestPoolForgets makes the Pool lose all data. The next grab must load the packet again and win.
func TestPoolForgets(t *testing.T) {
	h := newTestService(t, "boss", "a", "b")
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

// TestBackstopClosesWhatNobodyLoaded sends a packet whose instance dies before it loads the packet into the Pool.
// Nobody grabs it. The backstop must close it.
func TestBackstopClosesWhatNobodyLoaded(t *testing.T) {
	h := newTestService(t, "boss")
	h.credit(t, "boss", 300)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3, TTL: time.Minute})
	h.pool.Forget()
	h.clock.advance(time.Minute + 4*time.Second)
	h.run(t)
	h.published.waitFor(t, "packet_done", packetDone(p))
	if got := h.balance(t, "boss"); got != 300 {
		t.Errorf("boss has %d", got)
	}
	h.mustBalance(t)
}

// TestSQLHasLostThePacket removes a packet from SQL, as a standby that lagged behind or an old backup does. The
// service must not try to close the packet again and again.
func TestSQLHasLostThePacket(t *testing.T) {
	h := newTestService(t, "boss")
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
	if claims := storetest.Unsettled(t, h.pool, 0); len(claims) > 0 {
		t.Errorf("still unsettled: %v", claims)
	}
	if closing, err := h.pool.Close(t.Context(), lost.Ref, redpacket.CloseDue); err != nil || !closing.Missing {
		t.Errorf("its image is still there: %+v, %v", closing, err)
	}
	h.mustBalance(t)
}

func TestCancel(t *testing.T) {
	h := newTestService(t, "boss", "a")
	h.credit(t, "boss", 1000)
	ctx := context.Background()
	p := h.send(t, "boss", redpacket.SendRequest{Total: 300, Count: 3})
	if _, _, err := h.packets.Cancel(ctx, "a", p.ID); !errors.Is(err, chat.ErrForbidden) {
		t.Errorf("a stranger cancels: %v", err)
	}
	for range 2 {
		state, acc, err := h.packets.Cancel(ctx, "boss", p.ID)
		if err != nil || state.Status != redpacket.Cancelled || state.Refunded != 300 || acc.Balance != 1000 || acc.Version != 3 {
			t.Errorf("cancel: %+v, %+v, %v", state, acc, err)
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
	h := newTestService(t, "boss", "a", "b", "c")
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
		t.Error("amounts are not shown to the sender and the winners")
	}
	h.grab(t, "b", p)
	h.grab(t, "c", p)
	h.published.waitFor(t, "packet_done", packetDone(p))
	if !shows("boss") || !shows("b") {
		t.Error("once it is done everyone sees the amounts")
	}
}

// TestPacketEntryHidesSharesAndSeed checks that nothing published about an open packet reveals its shares or its seed.
func TestPacketEntryHidesSharesAndSeed(t *testing.T) {
	h := newTestService(t, "boss")
	h.credit(t, "boss", 1000)
	h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 3})
	var body map[string]any
	h.published.waitFor(t, "packet", func(entries []chat.Entry, _ []chat.Event) bool {
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
	h := newTestService(t, "boss", "a")
	h.credit(t, "boss", 1000)
	h.signIn(t, "stranger")
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 3})
	ctx := context.Background()
	if _, err := h.packets.Grab(ctx, redpacket.GrabRequest{User: "stranger", Packet: p.ID}); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("a stranger grabs: %v", err)
	}
	if _, err := h.packets.Grab(ctx, redpacket.GrabRequest{User: "a", Packet: "no-such-packet"}); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("an unknown packet: %v", err)
	}
	h.grab(t, "a", p)
	if err := h.rooms.Leave(ctx, person("a"), h.room); err != nil {
		t.Fatal(err)
	}
	if r := h.grab(t, "a", p); r.Outcome != redpacket.OutcomeAlready {
		t.Errorf("a winner that left: %+v", r)
	}
	if _, err := h.rooms.Join(ctx, person("stranger"), h.room); err != nil {
		t.Fatal(err)
	}
	if err := h.rooms.Leave(ctx, person("stranger"), h.room); err != nil {
		t.Fatal(err)
	}
	if _, err := h.packets.Grab(ctx, redpacket.GrabRequest{User: "stranger", Packet: p.ID}); !errors.Is(err, chat.ErrNotMember) {
		t.Errorf("a former member: %v", err)
	}
}

// TestProgress grabs many shares of a packet. Progress must merge claims, only count up, and never come after the
// packet's end.
func TestProgress(t *testing.T) {
	users := []string{"boss", "a", "b", "c", "d", "e", "f", "g"}
	h := newTestService(t, users...)
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 7})
	for _, u := range users[1:7] {
		h.grab(t, u, p)
	}
	h.published.waitFor(t, "progress of 6", func(_ []chat.Entry, events []chat.Event) bool {
		last, published := 0, 0
		for _, e := range events {
			if g, ok := e.(redpacket.Progress); ok {
				if published++; g.Claimed <= last || len(g.Latest) > 5 || g.Count != 7 {
					t.Fatalf("progress %+v after %d", g, last)
				}
				last = g.Claimed
			}
		}
		return last == 6 && published < 6
	})
	h.grab(t, "g", p)
	h.published.waitFor(t, "packet_done", packetDone(p))
}

// slowAnswer is a Ledger that commits the adjustment with the key "slow", but returns only when the test says so.
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

// TestLastWalletPushIsTrue makes two changes of a user's balance that are published in the wrong order. The last push
// must have the right balance.
func TestLastWalletPushIsTrue(t *testing.T) {
	h := newTestService(t, "ann")
	ledger := &slowAnswer{Store: h.store, committed: make(chan struct{}), answer: make(chan struct{})}
	packets := redpacket.New(ledger, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now})
	credit := func(amount redpacket.Money, key string) {
		if _, _, err := packets.Adjust(context.Background(), redpacket.AdjustRequest{User: "ann", Amount: amount, Key: key}); err != nil {
			t.Error(err)
		}
	}
	var slow sync.WaitGroup
	slow.Go(func() { credit(10, "slow") })
	<-ledger.committed
	credit(5, "quick")
	close(ledger.answer)
	slow.Wait()

	last, ok := h.published.events[len(h.published.events)-1].(redpacket.WalletChanged)
	if !ok || last.Change != 10 || last.Account.Balance != h.balance(t, "ann") {
		t.Errorf("published last: %+v; the balance is %d", last, h.balance(t, "ann"))
	}
}

// TestDetailsByThePage reads a packet page by page. The pages together must equal the whole book, and show the amounts
// of others only where that is allowed.
func TestDetailsByThePage(t *testing.T) {
	users := []string{"boss", "a", "b", "c", "d", "e"}
	h := newTestService(t, users...)
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 1000, Count: 5})
	check := func(when string) {
		t.Helper()
		book, err := h.store.Book(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, user := range users {
			state := book.StateOf(user)
			for after := range 7 {
				for limit := 1; limit <= 6; limit++ {
					rest := book.Claims[min(after, len(book.Claims)):]
					want := redpacket.Details{Packet: book.Packet, State: state, Claims: rest[:min(limit, len(rest))], More: len(rest) > limit,
						ShowAmounts: user == "boss" || state.Mine != nil || book.Status != redpacket.Open}
					if book.Status != redpacket.Open {
						want.Proof = &redpacket.Proof{Seed: hex.EncodeToString(book.Seed[:]), Commitment: p.Commitment, Shares: book.Shares}
					}
					if len(want.Claims) == 0 {
						want.Claims = nil
					}
					got, err := h.packets.Details(t.Context(), user, p.ID, after, limit)
					if err != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("%s, %s after %d, limit %d:\ngot  %+v, %v\nwant %+v", when, user, after, limit, got, err, want)
					}
				}
			}
		}
	}
	check("untouched")
	for n, user := range []string{"a", "b", "c", "d", "e"} {
		h.grab(t, user, p)
		h.packets.Idle()
		if n%2 == 0 {
			check("grabbed by " + user)
		}
	}
	if got := h.status(t, p); got != redpacket.Drained {
		t.Errorf("the packet is %s", got)
	}
	if _, err := h.packets.Details(t.Context(), "boss", p.ID, -1, 5); !errors.Is(err, chat.ErrBadRequest) {
		t.Errorf("after rank -1: %v", err)
	}
	h.signIn(t, "stranger")
	if _, err := h.packets.Details(t.Context(), "stranger", p.ID, 0, 5); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("a stranger: %v", err)
	}
}

// TestLastWalletPushIsNewest makes many changes of one user's balance at the same time. The last push must have the
// account after all of them.
func TestLastWalletPushIsNewest(t *testing.T) {
	h := newTestService(t, "ann")
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if _, _, err := h.packets.Adjust(context.Background(), redpacket.AdjustRequest{User: "ann", Amount: 1, Key: fmt.Sprintf("many-%d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	now, err := h.packets.Account(context.Background(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	pushes := 0
	for _, e := range h.published.events {
		if w, ok := e.(redpacket.WalletChanged); ok && w.Change == 1 {
			pushes++
		}
	}
	last, ok := h.published.events[len(h.published.events)-1].(redpacket.WalletChanged)
	if !ok || last.Account != now || pushes != 50 {
		t.Errorf("published last of %d pushes: %+v; the account is %+v", pushes, last, now)
	}
}
