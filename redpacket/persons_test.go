package redpacket_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

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
