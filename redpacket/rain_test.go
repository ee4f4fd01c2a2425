package redpacket_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/redpacket/proof"
)

var rain = redpacket.SendRequest{Total: 1000, Count: 12, Rain: redpacket.Rain{Waves: 4, MaxWins: 2}, Over: 20 * time.Second}

// waves returns the published events of waves, each once.
func (h *testService) waves(packet string) (begun []int, drawn []redpacket.WaveEvent) {
	h.published.mu.Lock()
	defer h.published.mu.Unlock()
	for _, e := range h.published.events {
		w, is := e.(redpacket.WaveEvent)
		switch {
		case !is || w.Packet != packet:
		case w.Drawn == nil && !slices.Contains(begun, w.Wave):
			begun = append(begun, w.Wave)
		case w.Drawn != nil:
			drawn = append(drawn, w)
		}
	}
	return begun, drawn
}

// follow lets the users grab in each wave of a rain, 100 ms after it was told, until the rain has ended.
func (h *testService) follow(t *testing.T, p redpacket.Packet, users []string) (receipts map[string][]*proof.Receipt) {
	t.Helper()
	receipts = map[string][]*proof.Receipt{}
	for seen := 0; h.ended() == 0; time.Sleep(50 * time.Millisecond) {
		begun, _ := h.waves(p.ID)
		if len(begun) == seen {
			continue
		}
		seen = len(begun)
		time.Sleep(100 * time.Millisecond)
		for _, user := range users {
			r := h.grab(t, user, p)
			if r.Outcome != redpacket.OutcomeEntered || r.Wave != seen || r.Receipt == nil {
				t.Errorf("%s in wave %d: %+v", user, seen, r)
				continue
			}
			receipts[user] = append(receipts[user], r.Receipt)
		}
	}
	return receipts
}

func TestRain(t *testing.T) {
	t.Parallel()
	inBubble(t, users(8), func(t *testing.T, h *testService) {
		h.run(t)
		p := h.send(t, "u00", rain)
		if r := h.grab(t, "u01", p); r.Outcome != redpacket.OutcomeMissed {
			t.Errorf("before the first wave: %+v", r)
		}
		receipts := h.follow(t, p, users(5))
		begun, drawn := h.waves(p.ID)
		if !slices.Equal(begun, []int{1, 2, 3, 4}) || len(drawn) != 4 {
			t.Fatalf("begun %v, drawn %+v", begun, drawn)
		}
		book, err := h.store.Book(t.Context(), p.ID)
		if err != nil || len(book.Claims) != 10 || book.Status != redpacket.Expired { // 5 users win twice
			t.Fatalf("%d claims, %v, %v", len(book.Claims), book.Status, err)
		}
		opens := p.Opens(book.Seed)
		won, rank := map[string]int{}, 0
		for i, w := range drawn {
			if w.Wave != i+1 || !w.Ends.Equal(opens[i].Add(redpacket.WaveWindow)) || w.Drawn.Participants != 5 || w.Drawn.Won != len(w.Drawn.Winners) {
				t.Errorf("wave %+v %+v, opens %v", w, w.Drawn, opens[i])
			}
			for _, winner := range w.Drawn.Winners {
				if rank++; winner.Rank() != rank || winner.Amount != book.Shares[rank-1] {
					t.Errorf("winner %+v", winner)
				}
				won[winner.User.ID]++
			}
		}
		if want := map[string]int{"u00": 2, "u01": 2, "u02": 2, "u03": 2, "u04": 2}; fmt.Sprint(won) != fmt.Sprint(want) {
			t.Errorf("won %v", won)
		}
		for _, user := range users(5) {
			state, err := h.packets.States(t.Context(), user, []string{p.ID})
			if err != nil || len(state[0].Rain.Wins) != 2 || state[0].Rain.Drawn != 4 {
				t.Errorf("%s: %+v, %v", user, state, err)
			}
			if r := h.grab(t, user, p); r.Outcome != redpacket.OutcomeAlready || r.Amount != state[0].Mine.Amount {
				t.Errorf("%s after the end: %+v", user, r)
			}
		}
		for wave := range 4 {
			of := map[string]*proof.Receipt{}
			for user, all := range receipts {
				of[user] = all[wave]
			}
			checkDocument(t, h, p, of, "u07")
		}
	})
}

// deadSender sends a rain of three waves through an instance that does nothing after that, and makes another instance the one of h.
func (h *testService) deadSender(t *testing.T, over time.Duration) redpacket.Packet {
	t.Helper()
	dead := h.packets
	sent, err := dead.Send(t.Context(), person("u00"), redpacket.SendRequest{Room: h.room, Key: h.key(), Total: 100, Count: 3, Rain: redpacket.Rain{Waves: 3}, Over: over})
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	_ = dead.Run(stopped) // it follows no rain after that
	h.packets = redpacket.New(h.store, h.pool, h.rooms, h.published, redpacket.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	return sent.Packet
}

// TestRainIsTakenOver sends a rain through an instance that does nothing after that. Another instance must tell and draw all waves.
func TestRainIsTakenOver(t *testing.T) {
	t.Parallel()
	inBubble(t, users(4), func(t *testing.T, h *testService) {
		p := h.deadSender(t, 20*time.Second)
		h.run(t)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		begun, drawn := h.waves(p.ID)
		if !slices.Equal(begun, []int{1, 2, 3}) || len(drawn) != 3 || h.ended() != 1 {
			t.Errorf("begun %v, %d drawn, %d ends", begun, len(drawn), h.ended())
		}
	})
}

// TestRainThatOpensLaterIsDrawnAtOnce sends a rain that opens after some minutes. Its sender's instance must not leave its waves to others.
func TestRainThatOpensLaterIsDrawnAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, users(3), func(t *testing.T, h *testService) {
		h.run(t)
		p := h.send(t, "u00", redpacket.SendRequest{Total: 100, Count: 3, Rain: redpacket.Rain{Waves: 3}, Over: time.Minute, OpensAt: time.Now().Add(5 * time.Minute)})
		time.Sleep(5 * time.Minute)
		plans, err := h.store.OpenRains(t.Context(), redpacket.RainPlan{}, 1)
		if err != nil || len(plans) != 1 {
			t.Fatalf("%+v, %v", plans, err)
		}
		time.Sleep(time.Until(plans[0].Opens[0].Add(redpacket.WaveWindow)) + 500*time.Millisecond)
		synctest.Wait()
		if _, drawn := h.waves(p.ID); len(drawn) != 1 {
			t.Errorf("%d waves were drawn half a second after the end of the first, want 1", len(drawn))
		}
	})
}

// TestResultOfAWaveIsToldAfterACrash sends a rain through an instance that dies when it has drawn a wave, before it has paid or told anybody.
// Another instance, one that has followed the rain or one that starts then, must pay and tell before the next wave ends.
func TestResultOfAWaveIsToldAfterACrash(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]bool{"by one that has followed the rain": false, "by one that starts then": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, users(4), func(t *testing.T, h *testService) { resultAfterACrash(t, h, later) })
		})
	}
}

func resultAfterACrash(t *testing.T, h *testService, later bool) {
	p := h.deadSender(t, time.Minute)
	if !later {
		h.run(t)
	}
	plans, err := h.store.OpenRains(t.Context(), redpacket.RainPlan{}, 1)
	if err != nil || len(plans) != 1 {
		t.Fatalf("%+v, %v", plans, err)
	}
	time.Sleep(time.Until(plans[0].Opens[0]) + time.Millisecond)
	h.grab(t, "u01", p)
	time.Sleep(redpacket.WaveWindow)
	d, err := h.store.Draw(t.Context(), redpacket.DrawRequest{Ref: p.Ref, Why: redpacket.CloseDue})
	if err != nil || d.New != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	if later {
		h.run(t)
	}
	time.Sleep(2500 * time.Millisecond) // the second wave is not over
	synctest.Wait()
	_, drawn := h.waves(p.ID)
	if len(drawn) != 1 || drawn[0].Wave != 1 || drawn[0].Drawn.Won != 1 || drawn[0].Drawn.Winners[0].User.ID != "u01" {
		t.Errorf("told: %+v", drawn)
	}
	if book, err := h.store.Book(t.Context(), p.ID); err != nil || len(book.Claims) != 1 {
		t.Errorf("paid: %+v, %v", book.Claims, err)
	}
}

// TestRainOfADeletedRoom deletes the room while a wave is open. The wave is drawn, and no other follows.
func TestRainOfADeletedRoom(t *testing.T) {
	t.Parallel()
	inBubble(t, users(4), func(t *testing.T, h *testService) {
		h.run(t)
		p := h.send(t, "u00", rain)
		for begun, _ := h.waves(p.ID); len(begun) == 0; begun, _ = h.waves(p.ID) {
			time.Sleep(50 * time.Millisecond)
		}
		h.grab(t, "u01", p)
		if _, _, err := h.packets.Cancel(t.Context(), "u00", p.ID); !errors.Is(err, redpacket.ErrPacketFinished) {
			t.Errorf("cancelled although a user has entered: %v", err)
		}
		if err := h.rooms.DeleteRoom(t.Context(), person("u00"), h.room); err != nil {
			t.Fatal(err)
		}
		h.packets.RoomDeleted(h.room)
		time.Sleep(time.Minute)
		synctest.Wait()
		book, err := h.store.Book(t.Context(), p.ID)
		if err != nil || len(book.Claims) != 1 || book.Claims[0].User.ID != "u01" || book.Refunded != 1000-book.Claims[0].Amount {
			t.Errorf("%+v, %v", book, err)
		}
		if begun, drawn := h.waves(p.ID); len(begun) != 1 || len(drawn) != 1 {
			t.Errorf("begun %v, %d drawn", begun, len(drawn))
		}
	})
}

func TestBadRains(t *testing.T) {
	t.Parallel()
	h := newTestService(t, "u00")
	for field, change := range map[string]func(r *redpacket.SendRequest){
		"waves":    func(r *redpacket.SendRequest) { r.Rain.Waves = 2 },
		"over_s":   func(r *redpacket.SendRequest) { r.Over = 11 * time.Second },
		"count":    func(r *redpacket.SendRequest) { r.Count = 13 },
		"max_wins": func(r *redpacket.SendRequest) { r.Rain.MaxWins = 5 },
		"window_s": func(r *redpacket.SendRequest) { r.Window = 5 * time.Second },
		"ttl_s":    func(r *redpacket.SendRequest) { r.TTL = time.Minute },
		"rest":     func(r *redpacket.SendRequest) { r.Rest = redpacket.RestShare },
	} {
		r := rain
		r.Room, r.Key = "room", "key"
		change(&r)
		var bad *chat.FieldError
		if err := h.packets.CheckSend(r); !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestRainsUnderFaults is TestDrawsUnderFaults for rains: all waves must be drawn as their participants and the seed say.
func TestRainsUnderFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			inBubble(t, users(20), func(t *testing.T, h *testService) { rainUnderFaults(t, h, seed) })
		})
	}
}

func rainUnderFaults(t *testing.T, h *testService, seed uint64) {
	t.Helper()
	var works atomic.Bool
	instances := make([]*redpacket.Service, 3)
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	for i := range instances {
		ledger := &flakyLedger{Ledger: h.store, works: &works, rng: rand.New(rand.NewPCG(seed, uint64(i)+1))}
		instances[i] = redpacket.New(ledger, h.pool, h.rooms, h.published, redpacket.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler), ReceiptKey: key})
		h.packets = instances[i]
		h.run(t)
	}
	p := h.send(t, "u00", rain)
	receipts := make([][]*proof.Receipt, 20)
	var all sync.WaitGroup
	for i := range receipts {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() {
			for time.Now().Before(p.ExpiresAt) {
				time.Sleep(time.Duration(rng.IntN(int(2 * time.Second))))
				r, err := instances[rng.IntN(3)].Grab(context.Background(), redpacket.GrabRequest{User: fmt.Sprintf("u%02d", i), Packet: p.ID})
				if err != nil && !errors.Is(err, chat.ErrUnavailable) {
					t.Errorf("user %d: %v", i, err)
				}
				if err == nil && r.Outcome == redpacket.OutcomeEntered {
					receipts[i] = append(receipts[i], r.Receipt)
				}
			}
		})
	}
	all.Wait()
	time.Sleep(5 * time.Second)
	works.Store(true)
	time.Sleep(time.Minute)
	synctest.Wait()
	d, err := h.packets.Document(t.Context(), "u00", p.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proof.Check(d); err != nil || len(d.Waves) != 4 {
		t.Errorf("%d waves, %v", len(d.Waves), err)
	}
	book, err := h.store.Book(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range receipts {
		for _, r := range receipts[i] {
			if err := proof.CheckReceipt(key.Public().(ed25519.PublicKey), d, *r); err != nil {
				t.Errorf("user %d: %v", i, err)
			}
		}
	}
	won := 0
	for _, w := range d.Waves {
		won += len(w.Winners)
		for _, winner := range w.Winners {
			if c := book.Claims[winner.Rank-1]; c.User.ID != winner.User || int64(c.Amount) != winner.Amount || c.Wave != int(w.Wave) {
				t.Errorf("wave %d: %+v was paid to %+v", w.Wave, winner, c)
			}
		}
	}
	if won != len(book.Claims) {
		t.Errorf("%d have won, and %d were paid", won, len(book.Claims))
	}
}

// stuckLedger is a Ledger that cannot settle the claims of one user until it works.
type stuckLedger struct {
	redpacket.Ledger
	user  string
	works atomic.Bool
}

func (l *stuckLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	if !l.works.Load() && slices.ContainsFunc(claims, func(c redpacket.Claim) bool { return c.User == l.user }) {
		settled := make([]redpacket.Settlement, len(claims))
		for i, c := range claims {
			if settled[i] = (redpacket.Settlement{Err: chat.ErrUnavailable}); c.User != l.user {
				settled[i] = l.Ledger.Settle(ctx, claims[i:i+1])[0]
			}
		}
		return settled
	}
	return l.Ledger.Settle(ctx, claims)
}

// TestAStuckWinnerSilencesNoWave cannot pay one winner until all waves are drawn. Each wave must be told soon after its end.
func TestAStuckWinnerSilencesNoWave(t *testing.T) {
	t.Parallel()
	inBubble(t, users(4), func(t *testing.T, h *testService) {
		ledger := &stuckLedger{Ledger: h.store, user: "u01"}
		h.packets = redpacket.New(ledger, h.pool, h.rooms, h.published, redpacket.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		h.run(t)
		p := h.send(t, "u00", rain)
		book, err := h.store.Book(t.Context(), p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, opens := range p.Opens(book.Seed) {
			time.Sleep(time.Until(opens) + time.Millisecond)
			h.grab(t, "u01", p)
			h.grab(t, "u02", p)
			time.Sleep(redpacket.WaveWindow + time.Second)
			if _, drawn := h.waves(p.ID); len(drawn) != i+1 {
				t.Fatalf("%d of %d waves are told", len(drawn), i+1)
			}
		}
		ledger.works.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		if book, err = h.store.Book(t.Context(), p.ID); err != nil || len(book.Claims) != 4 || book.Status == redpacket.Open {
			t.Errorf("%d claims, %v, %v", len(book.Claims), book.Status, err)
		}
	})
}

// TestRetriedClaimOfARainKeepsItsWave puts claims of two waves into quarantine, and retries them.
func TestRetriedClaimOfARainKeepsItsWave(t *testing.T) {
	t.Parallel()
	inBubble(t, users(4), func(t *testing.T, h *testService) {
		h.run(t)
		h.exec(t, `create trigger poison before insert on claims when new.user_id = 'u01' begin select raise(abort, 'poisoned'); end`)
		p := h.send(t, "u00", rain)
		for begun := 0; begun < 3; time.Sleep(50 * time.Millisecond) {
			if now, _ := h.waves(p.ID); len(now) > begun {
				begun = len(now)
				h.grab(t, "u01", p)
			}
		}
		h.exec(t, `drop trigger poison`)
		all, err := h.packets.Quarantined(t.Context(), 0, 10)
		if err != nil || len(all) < 2 {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, q := range all {
			if got, err := h.packets.RetryQuarantined(t.Context(), q.ID); err != nil || got.State != redpacket.QuarantinePaid {
				t.Errorf("%+v, %v", got, err)
			}
		}
		book, err := h.store.Book(t.Context(), p.ID)
		if err != nil || len(book.Claims) != 2 || book.Claims[0].Wave != 1 || book.Claims[1].Wave != 2 {
			t.Errorf("%+v, %v", book.Claims, err)
		}
	})
}

// endlessRains is a ledger with more open rains than an instance follows.
type endlessRains struct {
	redpacket.Ledger

	listed int
}

func (l *endlessRains) OpenRains(_ context.Context, _ redpacket.RainPlan, limit int) (page []redpacket.RainPlan, _ error) {
	for range limit {
		l.listed++
		page = append(page, redpacket.RainPlan{Ref: redpacket.Ref{ID: fmt.Sprint(l.listed)}}) // without instants: none is followed
	}
	return page, nil
}

// TestFewRainsAreReadAtATime has more open rains than an instance follows. It must not read them all.
func TestFewRainsAreReadAtATime(t *testing.T) {
	h := newTestService(t, "boss")
	l := &endlessRains{Ledger: h.store}
	h.packets = redpacket.New(l, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler)})
	if err := h.packets.FindRains(t.Context()); err != nil || l.listed != redpacket.RainsKept {
		t.Errorf("%d rains were read, %v; want %d", l.listed, err, redpacket.RainsKept)
	}
}
