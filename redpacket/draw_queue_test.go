package redpacket_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
)

// slowLedger makes calls of draws slow, and counts them.
type slowLedger struct {
	redpacket.Ledger

	enter, draw time.Duration
	entered     atomic.Int64 // users that Enter was called with
	books       atomic.Int64
	ahead       time.Duration // of the ledger's clock
}

func (l *slowLedger) Enter(ctx context.Context, packet string, users []redpacket.Entrant) (redpacket.Entering, error) {
	l.entered.Add(int64(len(users)))
	time.Sleep(l.enter)
	return l.Ledger.Enter(ctx, packet, users)
}

func (l *slowLedger) Draw(ctx context.Context, r redpacket.DrawRequest) (redpacket.Draw, error) {
	time.Sleep(l.draw)
	return l.Ledger.Draw(ctx, r)
}

func (l *slowLedger) Book(ctx context.Context, packet string) (redpacket.Book, error) {
	l.books.Add(1)
	time.Sleep(10 * time.Millisecond)
	return l.Ledger.Book(ctx, packet)
}

func (l *slowLedger) Clocks(context.Context, func() time.Time) ([]redpacket.ClockDifference, error) {
	return []redpacket.ClockDifference{{Clock: "ledger", Ahead: l.ahead}}, nil
}

// onSlowLedger is inBubble with a slowLedger.
func onSlowLedger(t *testing.T, all []string, test func(t *testing.T, h *testService, l *slowLedger)) {
	t.Helper()
	inBubble(t, all, func(t *testing.T, h *testService) {
		l := &slowLedger{Ledger: h.store}
		h.packets = redpacket.New(l, h.pool, h.rooms, h.published, redpacket.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		test(t, h, l)
	})
}

// While a transaction of a draw is slow, others wait. A user that gives up meanwhile is not entered, and delays no other.
func TestWhoHasGoneIsNotEntered(t *testing.T) {
	t.Parallel()
	onSlowLedger(t, users(20), func(t *testing.T, h *testService, l *slowLedger) {
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1, Window: time.Minute})
		l.enter = 10 * time.Second
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := h.packets.Grab(ctx, redpacket.GrabRequest{User: fmt.Sprintf("u%02d", i), Packet: p.ID})
				if !errors.Is(err, chat.ErrUnavailable) {
					t.Errorf("user %d: %v", i, err)
				}
			})
			synctest.Wait() // the first one is alone in its transaction
		}
		all.Wait()
		time.Sleep(30 * time.Second)
		if n := l.entered.Load(); n != 1 {
			t.Errorf("%d users were entered, want the first only: the others had gone", n)
		}
	})
}

// When the service stops, nobody waits to enter.
func TestNobodyEntersWhenTheServiceStops(t *testing.T) {
	t.Parallel()
	onSlowLedger(t, users(3), func(t *testing.T, h *testService, l *slowLedger) {
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1, Window: time.Minute})
		l.enter = 4 * time.Second
		grab := func(user string) {
			_, err := h.packets.Grab(context.Background(), redpacket.GrabRequest{User: user, Packet: p.ID})
			if user != "u00" && !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("%s: %v", user, err)
			}
		}
		go grab("u00")
		synctest.Wait()
		go grab("u01")
		synctest.Wait()
		began := time.Now()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = h.packets.Run(ctx)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("stopping took %v", took)
		}
		grab("u02")
		synctest.Wait()
		if n := l.entered.Load(); n != 1 {
			t.Errorf("%d users were entered", n)
		}
	})
}

// A draw that takes long has one close at a time.
func TestSlowDrawTakesOneSlot(t *testing.T) {
	t.Parallel()
	onSlowLedger(t, users(2), func(t *testing.T, h *testService, l *slowLedger) {
		l.draw = 3 * time.Second
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1, Window: drawWindow})
		h.grab(t, "u01", p)
		time.Sleep(drawWindow + 2*time.Second)
		if n := h.packets.ClosesOfDraws(); n != 1 {
			t.Errorf("%d closes run", n)
		}
		time.Sleep(5 * time.Second)
		if synctest.Wait(); h.ended() != 1 {
			t.Errorf("%d ends", h.ended())
		}
	})
}

// When a draw has ended, many users of another instance find that out at once, with few reads of its book.
func TestManyFindADrawEnded(t *testing.T) {
	t.Parallel()
	onSlowLedger(t, users(30), func(t *testing.T, h *testService, l *slowLedger) {
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1, Window: time.Minute})
		h.grab(t, "u01", p)
		d, err := h.store.Draw(t.Context(), redpacket.DrawRequest{Ref: p.Ref, Why: redpacket.CloseEarly})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.store.End(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, Grants: d.Winners(), At: time.Now(), EntryID: "done"}); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 30 {
			all.Go(func() {
				if r := h.grab(t, fmt.Sprintf("u%02d", i), p); i == 1 && r.Outcome != redpacket.OutcomeAlready || i != 1 && r.Outcome != redpacket.OutcomeEmpty {
					t.Errorf("user %d: %+v", i, r)
				}
			})
		}
		all.Wait()
		if n := l.books.Load(); n > 2 {
			t.Errorf("the book was read %d times", n)
		}
	})
}

// Many members that ask for the proof of one draw share one reading.
func TestProofIsReadOnce(t *testing.T) {
	t.Parallel()
	onSlowLedger(t, users(3), func(t *testing.T, h *testService, l *slowLedger) {
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1, Window: drawWindow})
		h.grab(t, "u01", p)
		time.Sleep(drawWindow + time.Second)
		synctest.Wait()
		before := l.books.Load()
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { checkDocument(t, h, p, nil, "u02") })
		}
		all.Wait()
		if n := l.books.Load() - before; n > 2 {
			t.Errorf("the book was read %d times", n)
		}
		h.packets.Forget() // the database has lost commits
		checkDocument(t, h, p, nil, "u02")
		if n := l.books.Load() - before; n < 2 {
			t.Error("the proof is of a database that has gone back")
		}
	})
}

// The window is counted from the clock that decides when it ends.
func TestWindowIsOfTheLedgersClock(t *testing.T) {
	t.Parallel()
	onSlowLedger(t, users(2), func(t *testing.T, h *testService, l *slowLedger) {
		l.ahead = 4 * time.Second
		if err := h.packets.CheckClocks(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := h.send(t, "u00", redpacket.SendRequest{Total: 1000, Count: 1, Window: 3 * time.Second})
		if left := p.ExpiresAt.Sub(time.Now().Add(l.ahead)); left != 3*time.Second {
			t.Errorf("the window is %v by the ledger's clock", left)
		}
	})
}
