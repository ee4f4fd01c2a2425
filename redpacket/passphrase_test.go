package redpacket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// TestPassphraseIsComparedNormalised tries a passphrase in other Unicode forms and with spaces around it. Every form
// must be accepted.
func TestPassphraseIsComparedNormalised(t *testing.T) {
	h := newTestService(t, "boss", "ann")
	h.credit(t, "boss", 1000)
	for _, c := range []struct {
		what, sent, tried string
		same              bool
	}{
		{"as it is", "芝麻开门", "芝麻开门", true},
		{"full width", "sesame 7", "ｓｅｓａｍｅ　７", true},
		{"with spaces that are far too many", "sesame 8", "sesame 8" + strings.Repeat(" ", chat.RawBytes(32)), false},
		{"half width", "ガギ", "ｶﾞｷﾞ", true},
		{"composed", "caf\u00e9", "cafe\u0301", true},
		{"decomposed", "A\u030angstro\u0308m", "\u00c5ngstr\u00f6m", true},
		{"a sign of its own", "\u212b", "\u00c5", true},
		{"a ligature", "of\ufb01ce", "office", true},
		{"circled digits", "①②③", "123", true},
		{"a long ligature", "\ufdfa", "صلى الله عليه وسلم", true},
		{"spaces around", " \t\u3000open\u00a0", "open", true},
		{"an unusual space within", "open\u00a0sesame", "open sesame", true},
		{"32 characters in 40", "    " + strings.Repeat("红", 32) + "    ", strings.Repeat("红", 32), true},

		{"capitals", "open", "Open", false},
		{"spaces within", "opensesame", "open sesame", false},
		{"traditional characters", "芝麻开门", "芝麻開門", false},
		{"a beginning", "open", "ope", false},
		{"more", "open", "open!", false},
		{"far too much", "open", strings.Repeat("open", 10_000), false},
		{"nothing", "open", "", false},
		{"spaces only", "open", "  ", false},
		{"a zero-width space", "open", "o\u200bpen", false},
	} {
		p := h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1, Passphrase: c.sent})
		r, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "ann", Packet: p.ID, Passphrase: c.tried})
		switch {
		case c.same && (err != nil || r.Outcome != redpacket.OutcomeWon):
			t.Errorf("%s: %q for %q: %v, %v", c.what, c.tried, c.sent, r.Outcome, err)
		case !c.same && !errors.Is(err, redpacket.ErrWrongPassphrase):
			t.Errorf("%s: %q for %q: %v, %v", c.what, c.tried, c.sent, r.Outcome, err)
		}
	}
	open := h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1})
	if r, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "ann", Packet: open.ID, Passphrase: "needless"}); err != nil || r.Outcome != redpacket.OutcomeWon {
		t.Errorf("a passphrase for a packet without one: %v, %v", r.Outcome, err)
	}
	h.packets.Idle()
	h.mustBalance(t)
}

// grabLocked grabs a packet once with the given passphrase, and returns the outcome.
func grabLocked(t *testing.T, s *redpacket.Service, user string, p redpacket.Packet, passphrase string) (redpacket.Outcome, error) {
	t.Helper()
	r, err := s.Grab(t.Context(), redpacket.GrabRequest{User: user, Packet: p.ID, Passphrase: passphrase})
	return r.Outcome, err
}

// mustWait fails the test unless err says that the user must wait this long for the next try.
func mustWait(t *testing.T, err error, want time.Duration) {
	t.Helper()
	var rate *chat.RateError
	if !errors.As(err, &rate) || rate.After != want {
		t.Errorf("got %v, want to wait %v", err, want)
	}
}

// TestGuessingIsSlow tries wrong passphrases. A user must have five tries, then one every twelve seconds. A user
// without tokens must be refused even with the right passphrase. Other users and other packets must not be affected.
func TestGuessingIsSlow(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 1000)
	locked := redpacket.SendRequest{Total: 3, Count: 3, Passphrase: "open"}
	p, other := h.send(t, "boss", locked), h.send(t, "boss", locked)
	for i := range 5 {
		if _, err := grabLocked(t, h.packets, "ann", p, "guess"); !errors.Is(err, redpacket.ErrWrongPassphrase) {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	for _, passphrase := range []string{"guess", "open"} {
		_, err := grabLocked(t, h.packets, "ann", p, passphrase)
		mustWait(t, err, 12*time.Second)
	}
	for _, free := range []struct {
		user string
		p    redpacket.Packet
	}{{"bob", p}, {"ann", other}} {
		if outcome, err := grabLocked(t, h.packets, free.user, free.p, "open"); err != nil || outcome != redpacket.OutcomeWon {
			t.Errorf("%s: %v, %v", free.user, outcome, err)
		}
	}
	h.clock.advance(12*time.Second - time.Millisecond)
	_, err := grabLocked(t, h.packets, "ann", p, "open")
	mustWait(t, err, time.Millisecond)
	h.clock.advance(time.Millisecond)
	if outcome, err := grabLocked(t, h.packets, "ann", p, "open"); err != nil || outcome != redpacket.OutcomeWon {
		t.Errorf("after the wait: %v, %v", outcome, err)
	}
	for range 10 { // a user with a share needs no passphrase, so these cost no token
		if outcome, err := grabLocked(t, h.packets, "ann", p, "guess"); err != nil || outcome != redpacket.OutcomeAlready {
			t.Errorf("again: %v, %v", outcome, err)
		}
	}
}

// TestManyAccountsCannotGuess lets nine accounts of one attacker count up to the passphrase 42. Together they must have
// one try each and twenty more, and then one in 30 seconds. Users that know the passphrase must win at their first try
// all the while, and packets must not affect each other.
func TestManyAccountsCannotGuess(t *testing.T) {
	attackers := []string{"eve1", "eve2", "eve3", "eve4", "eve5", "eve6", "eve7", "eve8", "eve9"}
	honest := []string{"ann", "bob", "cat"}
	h := newTestService(t, slices.Concat([]string{"boss"}, attackers, honest)...)
	h.credit(t, "boss", 1000)
	locked := redpacket.SendRequest{Total: 20, Count: 20, Passphrase: "42"}
	p, other := h.send(t, "boss", locked), h.send(t, "boss", locked)
	guess := 0
	tryAll := func() (tries int) {
		for round := range 5 {
			for _, user := range attackers {
				outcome, err := grabLocked(t, h.packets, user, p, strconv.Itoa(guess))
				var rate *chat.RateError
				switch {
				case errors.Is(err, redpacket.ErrWrongPassphrase):
					tries, guess = tries+1, guess+1
				case !errors.As(err, &rate):
					t.Fatalf("round %d: %s guessed %d: %v, %v", round, user, guess, outcome, err)
				}
			}
		}
		return tries
	}
	if tries := tryAll(); tries != len(attackers)+20 {
		t.Errorf("%d tries at once", tries)
	}
	for i := range honest {
		if outcome, err := grabLocked(t, h.packets, honest[i], p, "42"); err != nil || outcome != redpacket.OutcomeWon {
			t.Errorf("%s: %v, %v", honest[i], outcome, err)
		}
		h.clock.advance(time.Minute)
		if tries := tryAll(); tries != 2 {
			t.Errorf("%d tries in a minute", tries)
		}
	}
	if outcome, err := grabLocked(t, h.packets, attackers[0], other, "42"); err != nil || outcome != redpacket.OutcomeWon {
		t.Errorf("at another packet: %v, %v", outcome, err)
	}
}

// TestRightPassphraseCostsOneToken repeats a grab with the right passphrase that fails in storage. Only the first try
// may cost a token.
func TestRightPassphraseCostsOneToken(t *testing.T) {
	h := newTestService(t, "boss", "ann")
	h.credit(t, "boss", 1000)
	ledger := newHeldLedger(h.store)
	h.packets = redpacket.New(ledger, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler), GuessLimiter: h.tries})
	p := h.send(t, "boss", redpacket.SendRequest{Total: 3, Count: 3, Passphrase: "open"})
	ledger.down.Store(true)
	for range 10 {
		h.pool.Forget() // makes the Pool lose the grant, otherwise it would answer with the granted share
		if _, err := grabLocked(t, h.packets, "ann", p, " open "); !errors.Is(err, chat.ErrUnavailable) {
			t.Fatalf("while storage fails: %v", err)
		}
	}
	ledger.down.Store(false)
	h.pool.Forget()
	if _, err := grabLocked(t, h.packets, "ann", p, "guess"); !errors.Is(err, redpacket.ErrWrongPassphrase) {
		t.Errorf("a wrong one afterwards: %v", err)
	}
	if outcome, err := grabLocked(t, h.packets, "ann", p, "open"); err != nil || outcome != redpacket.OutcomeWon {
		t.Errorf("%v, %v", outcome, err)
	}
}

// brokenLimiter is a Limiter whose engine does not answer.
type brokenLimiter struct{}

func (brokenLimiter) Take(context.Context, string, chat.Rate) (time.Duration, error) {
	return 0, fmt.Errorf("take: %w", chat.ErrUnavailable)
}

// TestGuessesAreCountedOverAllInstances guesses at two instances. They must count the guesses together. While the
// limiter does not answer, no passphrase may be accepted.
func TestGuessesAreCountedOverAllInstances(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 1000)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 3, Count: 3, Passphrase: "open"})
	var instances [2]*redpacket.Service
	for i := range instances {
		instances[i] = redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, GuessLimiter: h.tries})
	}
	for i := range 5 {
		if _, err := grabLocked(t, instances[i%2], "ann", p, "guess"); !errors.Is(err, redpacket.ErrWrongPassphrase) {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	for _, s := range instances {
		_, err := grabLocked(t, s, "ann", p, "open")
		mustWait(t, err, 12*time.Second)
	}

	unlimited := redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, GuessLimiter: brokenLimiter{}})
	if _, err := grabLocked(t, unlimited, "bob", p, "open"); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("while tries cannot be counted: %v", err)
	}
	if outcome, err := grabLocked(t, instances[0], "bob", p, "open"); err != nil || outcome != redpacket.OutcomeWon {
		t.Errorf("%v, %v", outcome, err)
	}
	if outcome, err := grabLocked(t, unlimited, "bob", p, "open"); err != nil || outcome != redpacket.OutcomeAlready {
		t.Errorf("a user with a share, while guesses cannot be counted: %v, %v", outcome, err)
	}
}

// TestNoPassphraseWithoutLimiter uses a service without a limiter. A new packet with a passphrase must be refused, and
// no passphrase of an existing packet may be accepted.
func TestNoPassphraseWithoutLimiter(t *testing.T) {
	h := newTestService(t, "boss", "ann")
	h.credit(t, "boss", 1000)
	request := redpacket.SendRequest{Room: h.room, Key: h.key(), Total: 2, Count: 2, Passphrase: "open"}
	sent, err := h.packets.Send(t.Context(), person("boss"), request)
	if err != nil {
		t.Fatal(err)
	}
	unguarded := redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now})
	if again, err := unguarded.Send(t.Context(), person("boss"), request); err != nil || again.Packet.ID != sent.Packet.ID {
		t.Errorf("the same key: %v, %v", again.Packet.ID, err)
	}
	request.Key = h.key()
	if _, err := unguarded.Send(t.Context(), person("boss"), request); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("sent with a passphrase: %v", err)
	}
	if outcome, err := grabLocked(t, unguarded, "ann", sent.Packet, "open"); !errors.Is(err, chat.ErrUnavailable) {
		t.Errorf("grabbed: %v, %v", outcome, err)
	}
	request.Passphrase = ""
	if _, err := unguarded.Send(t.Context(), person("boss"), request); err != nil {
		t.Errorf("sent without one: %v", err)
	}
	h.mustBalance(t)
}

// TestPassphraseIsNeverPublished sends and grabs a packet with a passphrase. The passphrase must be in no entry,
// event, error or log line.
func TestPassphraseIsNeverPublished(t *testing.T) {
	h := newTestService(t, "boss", "ann", "bob")
	h.credit(t, "boss", 1000)
	var log bytes.Buffer
	ledger := newHeldLedger(h.store)
	h.packets = redpacket.New(ledger, h.pool, h.rooms, h.published, redpacket.Options{
		Now: h.clock.now, GuessLimiter: h.tries, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	const secret, guess = "open-sesame", "simsalabim"
	var said []string
	ledger.down.Store(true)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 2, Count: 2, Passphrase: secret})
	for _, passphrase := range []string{secret, guess, guess, guess, guess, guess, guess} {
		_, err := grabLocked(t, h.packets, "ann", p, passphrase)
		said = append(said, fmt.Sprint(err))
	}
	h.clock.advance(6 * time.Second) // now recovery examines the granted claims, and has something to log
	h.packets.Pass(t.Context())
	ledger.down.Store(false)
	for _, user := range []string{"ann", "bob"} {
		if outcome, err := grabLocked(t, h.packets, user, p, secret); err != nil {
			t.Errorf("%s: %v, %v", user, outcome, err)
		}
	}
	h.published.waitFor(t, "packet_done", packetDone(p))
	h.packets.Idle()
	for _, e := range h.published.entries {
		said = append(said, string(e.Body))
	}
	for _, e := range h.published.events {
		said = append(said, fmt.Sprintf("%+v", e))
	}
	said = append(said, log.String())
	for _, text := range said {
		if strings.Contains(text, secret) || strings.Contains(text, guess) {
			t.Errorf("published: %s", text)
		}
	}
	if log.Len() == 0 {
		t.Error("nothing was logged, so nothing is shown")
	}
}
