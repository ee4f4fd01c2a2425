package redpacket_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/memstore"
	"hongbao/store/storetest"
)

// refusingLedger is a Ledger that holds any packet as open, and can pay none of its claims.
type refusingLedger struct {
	emptyLedger
	stored atomic.Int64 // claims put into quarantine
	full   atomic.Bool  // Quarantine fails
}

func (*refusingLedger) Image(_ context.Context, id string) (redpacket.Image, error) {
	return redpacket.Image{Ref: redpacket.Ref{ID: id}, Count: 9, Status: redpacket.Open}, nil
}

func (*refusingLedger) Packet(_ context.Context, id string) (redpacket.Packet, error) {
	return redpacket.Packet{Ref: redpacket.Ref{ID: id}, Room: "room", Count: 9}, nil
}

func (*refusingLedger) Settle(_ context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	settled := make([]redpacket.Settlement, len(claims))
	for i := range settled {
		settled[i] = redpacket.Settlement{Verdict: redpacket.Unpayable, Why: "the row is refused"}
	}
	return settled
}

func (l *refusingLedger) Quarantine(_ context.Context, claims []redpacket.Claim, _ string) error {
	if l.full.Load() {
		return chat.ErrUnavailable
	}
	l.stored.Add(int64(len(claims)))
	return nil
}

// grantingPool is a Pool that grants every user of a packet the same share.
type grantingPool struct{ redpacket.Pool }

func (grantingPool) Grab(_ context.Context, attempts []redpacket.Attempt) ([]redpacket.Answer, error) {
	answers := make([]redpacket.Answer, len(attempts))
	for i := range answers {
		answers[i] = redpacket.Answer{Decision: redpacket.Yours, Share: 3, Taken: 4}
	}
	return answers, nil
}

// memberRooms is a Rooms in which every user is a member of every room.
type memberRooms struct{}

func (memberRooms) Standing(context.Context, string, string) (chat.Standing, error) {
	return chat.Standing{In: true, Ever: true}, nil
}

func (m memberRooms) StoredStanding(ctx context.Context, room, user string) (chat.Standing, error) {
	return m.Standing(ctx, room, user)
}

func (memberRooms) Away(context.Context, string, string) ([]string, error) { return nil, nil }

func (memberRooms) NoteOutcome(string, error) {}

func (memberRooms) Forget(string, string) {}

// errorCount is a log handler that counts the records of level Error.
type errorCount struct {
	slog.Handler
	n atomic.Int64
}

func (*errorCount) Enabled(context.Context, slog.Level) bool { return true }

func (c *errorCount) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelError {
		c.n.Add(1)
	}
	return nil
}

// TestClaimInQuarantineIsCountedOnce repeats grabs whose claims can never be paid. Each grab puts its claim into
// quarantine again, but the claim must be counted and logged only once.
func TestClaimInQuarantineIsCountedOnce(t *testing.T) {
	ledger, logged := &refusingLedger{}, &errorCount{Handler: slog.DiscardHandler}
	s := redpacket.New(ledger, grantingPool{}, memberRooms{}, nil, redpacket.Options{Log: slog.New(logged)})
	claims := []redpacket.GrabRequest{{Packet: "p1", User: "ann"}, {Packet: "p1", User: "bob"}, {Packet: "p2", User: "ann"}}
	const times = 4
	for range times {
		for _, c := range claims {
			if r, err := s.Grab(t.Context(), c); !errors.Is(err, chat.ErrUnavailable) {
				t.Errorf("%s grabs %s: %+v, %v, want unavailable", c.User, c.Packet, r, err)
			}
		}
	}
	if got := s.Stats().Quarantined; got != int64(len(claims)) {
		t.Errorf("%d claims counted, want %d", got, len(claims))
	}
	if got := logged.n.Load(); got != int64(len(claims)) {
		t.Errorf("%d errors logged, want %d", got, len(claims))
	}
	if got := ledger.stored.Load(); got != int64(times*len(claims)) {
		t.Errorf("%d calls of Quarantine, want one for each of %d grabs", got, times*len(claims))
	}
}

// TestClaimStaysInTheOutboxUntilItIsInQuarantine lets the quarantine of an unpayable claim fail at first. Until it
// succeeds, the claim must stay in the outbox: nothing else knows of it.
func TestClaimStaysInTheOutboxUntilItIsInQuarantine(t *testing.T) {
	clock := &clock{t: time.UnixMilli(1_800_000_000_000)}
	ledger, pool := &refusingLedger{}, memstore.NewPool(memstore.Options{Now: clock.now})
	packet := redpacket.Ref{ID: "p"}
	if err := pool.Load(t.Context(), redpacket.Image{Ref: packet, Count: 9, Deadline: clock.now().Add(time.Hour), Status: redpacket.Open}); err != nil {
		t.Fatal(err)
	}
	s := redpacket.New(ledger, pool, memberRooms{}, nil, redpacket.Options{Now: clock.now, Log: slog.New(slog.DiscardHandler)})
	for _, failing := range []bool{true, false} {
		ledger.full.Store(failing)
		if _, err := s.Grab(t.Context(), redpacket.GrabRequest{Packet: packet.ID, User: "ann"}); !errors.Is(err, chat.ErrUnavailable) {
			t.Errorf("%v, want unavailable", err)
		}
		s.Idle()
		if left := storetest.Unsettled(t, pool, 0); failing && (len(left) != 1 || s.Stats().Quarantined != 0) {
			t.Errorf("not in quarantine, and the outbox has %v; %+v", left, s.Stats())
		}
		clock.advance(redpacket.RecoverAge)
		s.Pass(t.Context())
	}
	if left := storetest.Unsettled(t, pool, 0); len(left) != 0 || ledger.stored.Load() == 0 || s.Stats().Quarantined != 1 {
		t.Errorf("%d in quarantine, and the outbox has %v; %+v", ledger.stored.Load(), left, s.Stats())
	}
}

// TestRetryPaysAClaimInQuarantine retries claims in quarantine while their rows are refused, and after that. Each must be paid once, its
// user must be told, and the packet must end with its money in wallets.
func TestRetryPaysAClaimInQuarantine(t *testing.T) {
	h := newTestService(t, "boss", "ann")
	h.credit(t, "boss", 1000)
	h.exec(t, `create trigger poison before insert on claims when new.user_id = 'ann' begin select raise(abort, 'poisoned'); end`)
	p := h.send(t, "boss", redpacket.SendRequest{Total: 30, Count: 3, Mode: redpacket.Equal, TTL: time.Minute})
	if _, err := h.packets.Grab(t.Context(), redpacket.GrabRequest{User: "ann", Packet: p.ID}); !errors.Is(err, chat.ErrUnavailable) {
		t.Fatalf("grab of a claim that is refused: %v", err)
	}
	all, err := h.packets.Quarantined(t.Context(), 0, 10)
	if err != nil || len(all) != 1 || all[0].State != redpacket.QuarantineUnpaid || all[0].User != "ann" {
		t.Fatalf("%+v, %v; want the claim of ann", all, err)
	}
	retry := func(want redpacket.QuarantineState) {
		t.Helper()
		got, err := h.packets.RetryQuarantined(t.Context(), all[0].ID)
		if err != nil || got.State != want || got.Why == "" {
			t.Errorf("%+v, %v; want %s", got, err, want)
		}
	}
	retry(redpacket.QuarantineUnpaid)
	h.exec(t, `drop trigger poison`)
	told := h.published.count()
	retry(redpacket.QuarantinePaid)
	if h.published.count() == told {
		t.Error("the payment was not published")
	}
	retry(redpacket.QuarantinePaid)
	if got := h.balance(t, "ann"); got != 10 {
		t.Errorf("ann has %d, want 10", got)
	}
	if _, err := h.packets.RetryQuarantined(t.Context(), all[0].ID+1); !errors.Is(err, chat.ErrNotFound) {
		t.Errorf("an unknown id: %v, want not found", err)
	}
	h.clock.advance(2 * time.Minute)
	h.packets.Pass(t.Context())
	if book, err := h.store.Book(t.Context(), p.ID); err != nil || book.Status != redpacket.Expired || len(book.Claims) != 1 || book.Refunded != 20 {
		t.Errorf("%+v, %v", book, err)
	}
	h.mustBalance(t)
}
