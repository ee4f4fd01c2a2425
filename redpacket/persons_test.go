package redpacket_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

func (h *testService) grabAs(tb testing.TB, user, person string, p redpacket.Packet) redpacket.Result {
	tb.Helper()
	r, err := h.packets.Grab(context.Background(), redpacket.GrabRequest{User: user, Person: person, Packet: p.ID})
	if err != nil {
		tb.Fatalf("%s grabs as %q: %v", user, person, err)
	}
	return r
}

func mustAnswer(t *testing.T, r redpacket.Result, outcome redpacket.Outcome, other string) {
	t.Helper()
	if r.Outcome != outcome || r.Other != other {
		t.Errorf("%s by %q, want %s by %q", r.Outcome, r.Other, outcome, other)
	}
}

// TestOneShareForEachPerson grabs with several accounts of a person, also after the Pool has forgotten everything, and with tokens that name
// another person.
func TestOneShareForEachPerson(t *testing.T) {
	h := newTestService(t, "boss", "mei1", "mei2", "ann", "bob")
	h.credit(t, "boss", 10_000)
	p := h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 500, Count: 5, OnePerPerson: true})
	plain := h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 500, Count: 5})
	mustAnswer(t, h.grabAs(t, "mei1", "mei", p), redpacket.OutcomeWon, "")
	mustAnswer(t, h.grabAs(t, "mei2", "mei", p), redpacket.OutcomeElsewhere, "mei1")
	h.packets.Idle()
	h.pool.Forget()
	mustAnswer(t, h.grabAs(t, "mei2", "mei", p), redpacket.OutcomeElsewhere, "mei1")
	mustAnswer(t, h.grabAs(t, "mei1", "somebody else", p), redpacket.OutcomeAlready, "")
	mustAnswer(t, h.grabAs(t, "ann", "", p), redpacket.OutcomeWon, "") // without a person, each user is one
	mustAnswer(t, h.grabAs(t, "bob", "", p), redpacket.OutcomeWon, "")
	mustAnswer(t, h.grabAs(t, "mei2", "another person now", p), redpacket.OutcomeWon, "")
	mustAnswer(t, h.grabAs(t, "mei1", "mei", plain), redpacket.OutcomeWon, "")
	mustAnswer(t, h.grabAs(t, "mei2", "mei", plain), redpacket.OutcomeWon, "") // the packet pays users
	h.packets.Idle()
	h.mustBalance(t)
}

// TestARefusedUserIsNotTheAccountOfAPerson has a user grab without the passphrase, and others when no share is left. None of them may keep
// another account of the person from a share.
func TestARefusedUserIsNotTheAccountOfAPerson(t *testing.T) {
	h := newTestService(t, "boss", "mei1", "mei2", "ann1", "ann2")
	h.credit(t, "boss", 10_000)
	p := h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 100, Count: 1, OnePerPerson: true, Passphrase: "sesame"})
	if _, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "mei1", Person: "mei", Packet: p.ID}); err == nil {
		t.Error("no passphrase was needed")
	}
	r, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "mei2", Person: "mei", Packet: p.ID, Passphrase: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	mustAnswer(t, r, redpacket.OutcomeWon, "")
	h.packets.Idle()
	mustAnswer(t, h.grabAs(t, "ann1", "ann", p), redpacket.OutcomeEmpty, "")
	mustAnswer(t, h.grabAs(t, "mei1", "mei", p), redpacket.OutcomeEmpty, "")
}

// TestAPersonEntersADrawOnce enters a draw with several accounts of a person.
func TestAPersonEntersADrawOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, users(4), func(t *testing.T, h *testService) {
		p := h.send(t, "u00", redpacket.SendRequest{Total: 500, Count: 2, Window: drawWindow, OnePerPerson: true})
		mustAnswer(t, h.grabAs(t, "u01", "mei", p), redpacket.OutcomeEntered, "")
		mustAnswer(t, h.grabAs(t, "u02", "mei", p), redpacket.OutcomeElsewhere, "u01")
		mustAnswer(t, h.grabAs(t, "u03", "", p), redpacket.OutcomeEntered, "")
		r := h.grabAs(t, "u01", "mei", p)
		mustAnswer(t, r, redpacket.OutcomeEntered, "")
		if r.Participants != 2 {
			t.Errorf("%d participants, want 2", r.Participants)
		}
	})
}

// TestAPersonHasOneShareWhateverIsForgotten has the accounts of some persons grab at the same time, again and again, while the Pool forgets
// its data. No person may have two shares, and each person must get one.
func TestAPersonHasOneShareWhateverIsForgotten(t *testing.T) {
	const persons, accounts = 6, 4
	users := []string{"boss"}
	for i := range persons * accounts {
		users = append(users, fmt.Sprintf("u%02d", i))
	}
	h := newTestService(t, users...)
	h.credit(t, "boss", 100_000)
	for round := range 10 {
		p := h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 1000, Count: 2 * persons, OnePerPerson: true})
		personOf := func(i int) string { return fmt.Sprint("person ", i%persons) }
		var grabs sync.WaitGroup
		for i := range persons * accounts {
			grabs.Go(func() {
				for try := range 3 {
					if rand.N(6) == 0 {
						h.pool.Forget()
					}
					_, err := h.packets.Grab(context.Background(), redpacket.GrabRequest{User: users[i+1], Person: personOf(i), Packet: p.ID})
					if err != nil && !errors.Is(err, chat.ErrUnavailable) {
						t.Errorf("round %d, try %d: %v", round, try, err)
					}
				}
			})
		}
		grabs.Wait()
		h.packets.Idle()
		for i := range persons * accounts {
			_, _ = h.packets.Grab(t.Context(), redpacket.GrabRequest{User: users[i+1], Person: personOf(i), Packet: p.ID})
		}
		h.packets.Idle()
		book, err := h.store.Book(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		paid := map[string]string{}
		for _, c := range book.Claims {
			var i int
			_, _ = fmt.Sscanf(c.User.ID, "u%d", &i)
			if before := paid[personOf(i)]; before != "" {
				t.Errorf("round %d: %s and %s are one person, and both have a share", round, before, c.User.ID)
			}
			paid[personOf(i)] = c.User.ID
		}
		if len(paid) != persons {
			t.Errorf("round %d: %d persons have a share, want %d", round, len(paid), persons)
		}
	}
	h.mustBalance(t)
}

// forgetfulLedger fails the next Settle before it does anything, as a commit that the database loses.
type forgetfulLedger struct {
	redpacket.Ledger

	loses    atomic.Bool
	bindings atomic.Int64  // calls of BindPersons
	users    atomic.Int64  // of these calls
	hold     chan struct{} // nil: BindPersons waits for nothing
}

func (l *forgetfulLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	if l.loses.CompareAndSwap(true, false) {
		return redpacket.AllUnsettled(len(claims), chat.ErrUnavailable)
	}
	return l.Ledger.Settle(ctx, claims)
}

func (l *forgetfulLedger) BindPersons(ctx context.Context, packet string, users []redpacket.Entrant, at time.Time) (map[string]string, error) {
	l.bindings.Add(1)
	l.users.Add(int64(len(users)))
	if l.hold != nil {
		<-l.hold
	}
	return l.Ledger.BindPersons(ctx, packet, users, at)
}

func (h *testService) forgets() *forgetfulLedger {
	l := &forgetfulLedger{Ledger: h.store}
	h.packets = redpacket.New(l, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler)})
	return l
}

// TestLostBindingPaysAPersonOnce has the database lose to which account a person is bound, and the claim of that account, while the Pool keeps
// its grant. Whichever account comes first after that gets the person's share, and no other one gets any: not by a grab, not by recovery, and
// not when the packet ends.
func TestLostBindingPaysAPersonOnce(t *testing.T) {
	for _, next := range []string{"mei1", "mei2"} {
		h := newTestService(t, "boss", "mei1", "mei2")
		h.credit(t, "boss", 10_000)
		ledger := h.forgets()
		p := h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 500, Count: 5, OnePerPerson: true})
		ledger.loses.Store(true)
		if _, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "mei1", Person: "mei", Packet: p.ID}); !errors.Is(err, chat.ErrUnavailable) {
			t.Fatalf("the first grab: %v", err)
		}
		h.exec(t, `delete from persons`)

		if r := h.grabAs(t, next, "mei", p); r.Outcome != redpacket.OutcomeWon && r.Outcome != redpacket.OutcomeAlready {
			t.Errorf("%s has %s after the loss, want a share", next, r.Outcome)
		}
		h.clock.advance(2 * redpacket.RecoverAge)
		h.packets.Pass(t.Context())
		other := map[string]string{"mei1": "mei2", "mei2": "mei1"}[next]
		mustAnswer(t, h.grabAs(t, other, "mei", p), redpacket.OutcomeElsewhere, next)
		h.packets.Idle()
		h.clock.advance(p.ExpiresAt.Sub(p.CreatedAt) + time.Minute)
		h.packets.Pass(t.Context())
		book, err := h.store.Book(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if book.Status != redpacket.Expired || len(book.Claims) != 1 || book.Claims[0].User.ID != next || book.Refunded != 400 {
			t.Errorf("the packet has %s with %v and refunded %d, want one share of %s", book.Status, book.Claims, book.Refunded, next)
		}
		refused, err := h.packets.Quarantined(t.Context(), 0, 10)
		if err != nil || next == "mei2" != (len(refused) == 1) {
			t.Errorf("the quarantine has %v, %v: want the grant of mei1 if it was not paid", refused, err)
		}
		h.mustBalance(t)
	}
}

// TestABurstBindsPersonsTogether has many users grab while the first transaction that binds persons runs. All others must share few more.
func TestABurstBindsPersonsTogether(t *testing.T) {
	const burst = 200
	all := users(burst + 1)
	h := newTestService(t, all...)
	h.credit(t, "u00", 10_000)
	ledger := h.forgets()
	ledger.hold = make(chan struct{})
	p := h.send(t, "u00", redpacket.SendRequest{Mode: redpacket.Equal, Total: 500, Count: burst, OnePerPerson: true})
	var grabs sync.WaitGroup
	for _, user := range all[1:] {
		grabs.Go(func() { mustAnswer(t, h.grabAs(t, user, "", p), redpacket.OutcomeWon, "") })
	}
	for h.packets.WaitToBind(p.ID)+int(ledger.users.Load()) < burst {
		runtime.Gosched()
	}
	close(ledger.hold)
	grabs.Wait()
	if n := ledger.bindings.Load(); n < 1 || n > 2 { // one if all have come before the first transaction has begun
		t.Errorf("%d grabs took %d transactions that bind persons, want 1 or 2", burst, n)
	}
	h.packets.Idle()
	h.mustBalance(t)
}

// TestPersonsAreNotStored reads what is stored of a person: a hash, which must be another one in each packet.
func TestPersonsAreNotStored(t *testing.T) {
	h := newTestService(t, "boss", "mei")
	h.credit(t, "boss", 1000)
	for range 2 {
		h.grabAs(t, "mei", "mei", h.send(t, "boss", redpacket.SendRequest{Mode: redpacket.Equal, Total: 100, Count: 2, OnePerPerson: true}))
	}
	db, err := sql.Open("sqlite", h.file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var hashes, short int
	if err := db.QueryRowContext(t.Context(), `select count(distinct person), count(*) filter (where length(person) < 64) from persons`).Scan(&hashes, &short); err != nil {
		t.Fatal(err)
	}
	if hashes != 2 || short != 0 {
		t.Errorf("%d different hashes, %d of them too short, want 2 hashes", hashes, short)
	}
}
