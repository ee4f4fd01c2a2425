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
