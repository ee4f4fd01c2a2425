package redpacket_test

import (
	"context"
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

// flakyLedger fails many calls that a draw makes: before they do anything, or after they are done, so that the answer is lost.
type flakyLedger struct {
	redpacket.Ledger

	works *atomic.Bool // all calls succeed

	mu  sync.Mutex
	rng *rand.Rand // guarded by mu
}

var errFlaky = fmt.Errorf("%w: on purpose", chat.ErrUnavailable)

// flaky makes a call, or fails instead of it or after it.
func flaky[T any](l *flakyLedger, call func() (T, error)) (T, error) {
	var none T
	l.mu.Lock()
	what := l.rng.IntN(4)
	l.mu.Unlock()
	if what == 0 && !l.works.Load() {
		return none, errFlaky
	}
	done, err := call()
	if what == 1 && !l.works.Load() {
		return none, errFlaky
	}
	return done, err
}

func (l *flakyLedger) Enter(ctx context.Context, packet string, users []redpacket.Entrant) (redpacket.Entering, error) {
	return flaky(l, func() (redpacket.Entering, error) { return l.Ledger.Enter(ctx, packet, users) })
}

func (l *flakyLedger) Draw(ctx context.Context, r redpacket.DrawRequest) (redpacket.Draw, error) {
	return flaky(l, func() (redpacket.Draw, error) { return l.Ledger.Draw(ctx, r) })
}

func (l *flakyLedger) End(ctx context.Context, c redpacket.Close) (redpacket.Closed, error) {
	return flaky(l, func() (redpacket.Closed, error) { return l.Ledger.End(ctx, c) })
}

func (l *flakyLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	settled, err := flaky(l, func() ([]redpacket.Settlement, error) { return l.Ledger.Settle(ctx, claims), nil })
	if err != nil {
		return redpacket.AllUnsettled(len(claims), err)
	}
	return settled
}

// TestDrawsUnderFaults runs draws over three instances whose calls fail half of the time, until some seconds after the windows. Then each draw
// must end as its participants and its seed say, and the answers that users have heard must be true.
func TestDrawsUnderFaults(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			inBubble(t, users(20), func(t *testing.T, h *testService) { drawUnderFaults(t, h, seed) })
		})
	}
}

func drawUnderFaults(t *testing.T, h *testService, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0))
	var works atomic.Bool
	instances := make([]*redpacket.Service, 3)
	for i := range instances {
		ledger := &flakyLedger{Ledger: h.store, works: &works, rng: rand.New(rand.NewPCG(seed, uint64(i)+1))}
		instances[i] = redpacket.New(ledger, h.pool, h.rooms, h.published, redpacket.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		h.packets = instances[i]
		h.run(t)
	}
	p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1 + rng.IntN(8), Window: drawWindow, Rest: []redpacket.Rest{redpacket.RestRefund, redpacket.RestShare}[rng.IntN(2)]})
	heard := make([]redpacket.Outcome, 20)
	var all sync.WaitGroup
	for i := range heard {
		come := time.Duration(rng.IntN(int(drawWindow + drawWindow/5)))
		through := instances[rng.IntN(len(instances))]
		all.Go(func() {
			time.Sleep(come)
			for heard[i] == "" {
				r, err := through.Grab(context.Background(), redpacket.GrabRequest{User: fmt.Sprintf("u%02d", i), Packet: p.ID})
				switch {
				case err == nil:
					heard[i] = r.Outcome
				case errors.Is(err, chat.ErrUnavailable):
					time.Sleep(100 * time.Millisecond)
				default:
					t.Errorf("user %d: %v", i, err)
					return
				}
			}
		})
	}
	all.Wait()
	time.Sleep(5 * time.Second)
	works.Store(true)
	time.Sleep(time.Minute)
	synctest.Wait()
	checkDraw(t, h, p, heard)
}

// checkDraw computes the winners of a draw that has ended from its seed and its participants, and compares them with the claims and with
// what the users have heard.
func checkDraw(t *testing.T, h *testService, p redpacket.Packet, heard []redpacket.Outcome) {
	t.Helper()
	book, err := h.store.Book(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	in, err := h.store.Participants(t.Context(), p.ID, 0, "", 100)
	if err != nil || book.Draw == nil || book.Draw.Participants != len(in) {
		t.Fatalf("%d participants, %+v, %v", len(in), book.Draw, err)
	}
	place, leaves := map[string]int{}, make([]proof.Hash, len(in))
	for i := range in {
		leaves[i] = proof.Leaf("u00", p.Key, 0, in[i].User)
	}
	for rank, i := range proof.Order(book.Seed, "u00", p.Key, 0, leaves) {
		place[in[i].User] = rank
	}
	if want := min(len(in), len(book.Shares)); len(book.Claims) != want {
		t.Errorf("%d claims, want %d", len(book.Claims), want)
	}
	for _, c := range book.Claims {
		if at, entered := place[c.User.ID]; !entered || at != c.Share {
			t.Errorf("%s has share %d, and is drawn at place %d (%t)", c.User.ID, c.Share, at, entered)
		}
	}
	if p.Rest == redpacket.RestShare && len(in) > 0 && book.Refunded != 0 {
		t.Errorf("%d was refunded", book.Refunded)
	}
	h.published.mu.Lock()
	compared := slices.Contains(h.published.events, chat.Event(chat.OutcomeUnknown{}))
	h.published.mu.Unlock()
	if n := h.ended(); n > 1 || n == 0 && !compared { // if the answer of End was lost, all instances compare the room with the store
		t.Errorf("%d ends were published; rooms are compared: %t", n, compared)
	}
	for i, outcome := range heard {
		at, entered := place[fmt.Sprintf("u%02d", i)]
		won := entered && at < len(book.Claims)
		if outcome == redpacket.OutcomeEntered && !entered || outcome == redpacket.OutcomeAlready && !won || outcome == redpacket.OutcomeExpired && entered && !won {
			t.Errorf("user %d heard %q, has entered: %t, place %d of %d", i, outcome, entered, at, len(book.Claims))
		}
	}
}

// downPool is a Pool that cannot be reached.
type downPool struct{}

var errDown = fmt.Errorf("pool: %w", chat.ErrUnavailable)

func (downPool) Grab(context.Context, []redpacket.Attempt) ([]redpacket.Answer, error) {
	return nil, errDown
}
func (downPool) Load(context.Context, redpacket.Image) error { return errDown }
func (downPool) Close(context.Context, redpacket.Ref, redpacket.CloseReason) (redpacket.Closing, error) {
	return redpacket.Closing{}, errDown
}
func (downPool) Ack(context.Context, []redpacket.Claim) error      { return errDown }
func (downPool) Due(context.Context, int) ([]redpacket.Ref, error) { return nil, errDown }
func (downPool) Recount(context.Context, ...int) error             { return errDown }
func (downPool) Outbox(context.Context) (int, time.Time, error)    { return 0, time.Time{}, errDown }
func (downPool) Clocks(context.Context, func() time.Time) ([]redpacket.ClockDifference, error) {
	return nil, errDown
}

func (downPool) Unsettled(context.Context, time.Duration, *redpacket.OutboxCursor, int) ([]redpacket.Claim, error) {
	return nil, errDown
}

// TestDrawNeedsNoPool runs a draw from its sending to its end while the Pool cannot be reached.
func TestDrawNeedsNoPool(t *testing.T) {
	t.Parallel()
	inBubble(t, users(3), func(t *testing.T, h *testService) {
		h.packets = redpacket.New(h.store, downPool{}, h.rooms, h.published, redpacket.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		h.run(t)
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 2, Window: drawWindow})
		for _, user := range []string{"u01", "u02"} {
			if r := h.grab(t, user, p); r.Outcome != redpacket.OutcomeEntered {
				t.Errorf("%s: %+v", user, r)
			}
		}
		time.Sleep(2 * drawWindow)
		synctest.Wait()
		if h.ended() != 1 || h.balance(t, "u01")+h.balance(t, "u02") != 1000 {
			t.Errorf("%d ends, %d and %d were paid", h.ended(), h.balance(t, "u01"), h.balance(t, "u02"))
		}
	})
}
