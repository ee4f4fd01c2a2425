package redpacket_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// poisonLedger is a Ledger that cannot settle the claims of some users. It counts the tries for each of these users.
type poisonLedger struct {
	redpacket.Ledger
	down  atomic.Bool
	drops atomic.Bool // the next Settle brings the ledger down

	mu    sync.Mutex
	tries map[string]int // guarded by mu; tries by user
}

func (l *poisonLedger) OutOfReach() error {
	if l.down.Load() {
		return chat.ErrUnavailable
	}
	return l.Ledger.OutOfReach()
}

func (l *poisonLedger) Settle(ctx context.Context, claims []redpacket.Claim) []redpacket.Settlement {
	settled := redpacket.AllUnsettled(len(claims), fmt.Errorf("poisoned: %w", chat.ErrUnavailable))
	if l.drops.Swap(false) {
		l.down.Store(true)
	}
	if l.down.Load() {
		return settled
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, c := range claims {
		if n, poisoned := l.tries[c.User]; poisoned {
			l.tries[c.User] = n + 1
			continue
		}
		settled[i] = l.Ledger.Settle(ctx, claims[i:i+1])[0]
	}
	return settled
}

func (l *poisonLedger) tried(user string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tries[user]
}

func (l *poisonLedger) heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tries = nil
}

// newServiceWithOrphans returns a testService whose outbox has claims of an instance that has died. Claims of the
// poisoned users cannot be settled.
func newServiceWithOrphans(t *testing.T, poisoned ...string) (*testService, *poisonLedger) {
	t.Helper()
	h := newTestService(t, "boss")
	h.credit(t, "boss", 100_000)
	ledger := &poisonLedger{Ledger: h.store, tries: map[string]int{}}
	for _, u := range poisoned {
		ledger.tries[u] = 0
	}
	h.packets = redpacket.New(ledger, h.pool, h.rooms, h.published, redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler)})
	for range 10 {
		p := h.send(t, "boss", redpacket.SendRequest{Total: 100, Count: 100})
		attempts := []redpacket.Attempt{{Ref: p.Ref, User: "a"}, {Ref: p.Ref, User: "b"}, {Ref: p.Ref, User: "c"}}
		if _, err := h.pool.Grab(t.Context(), attempts); err != nil {
			t.Fatal(err)
		}
	}
	h.clock.advance(redpacket.RecoverAge)
	return h, ledger
}

// TestClaimsThatCannotBeSettledAreSetAside runs recovery with some claims that cannot be settled. All other claims
// must be settled. The failing claims must stay in the outbox, and be tried again after pauses that grow up to a
// bound.
func TestClaimsThatCannotBeSettledAreSetAside(t *testing.T) {
	h, ledger := newServiceWithOrphans(t, "b")
	h.packets.Pass(t.Context())
	left := storetest.Unsettled(t, h.pool, 0)
	if len(left) != 10 || slices.ContainsFunc(left, func(c redpacket.Claim) bool { return c.User != "b" }) || ledger.tried("b") != 10 {
		t.Fatalf("left after one pass, and %d tries: %+v", ledger.tried("b"), left)
	}
	if s := h.packets.Stats(); s.SetAside != 10 || s.RecoverFailures != 1 {
		t.Errorf("%+v", s)
	}
	tries := 1
	for pause := time.Second; pause <= 4*time.Minute; pause *= 2 {
		h.clock.advance(min(pause, time.Minute) - time.Millisecond)
		h.packets.Pass(t.Context())
		if n := ledger.tried("b"); n != 10*tries {
			t.Errorf("%d tries before a pause of %v is over, want %d", n, pause, 10*tries)
		}
		h.clock.advance(time.Millisecond)
		h.packets.Pass(t.Context())
		if tries++; ledger.tried("b") != 10*tries {
			t.Errorf("%d tries after a pause of %v, want %d", ledger.tried("b"), pause, 10*tries)
		}
	}
	ledger.heal()
	h.clock.advance(time.Minute)
	h.packets.Pass(t.Context())
	if left := storetest.Unsettled(t, h.pool, 0); len(left) > 0 || h.packets.Stats().SetAside != 0 {
		t.Errorf("left at the end: %+v, %+v", left, h.packets.Stats())
	}
	h.mustBalance(t)
}

// TestNoClaimIsSetAsideForAnOutage runs recovery while the ledger is out of reach. The outage begins while claims are
// being settled. No claim may be paused for that: all must be settled as soon as the ledger works again.
func TestNoClaimIsSetAsideForAnOutage(t *testing.T) {
	h, ledger := newServiceWithOrphans(t)
	ledger.drops.Store(true)
	for range 10 {
		h.packets.Pass(t.Context())
		h.clock.advance(time.Second)
	}
	if s := h.packets.Stats(); s.SetAside != 0 || s.RecoverFailures != 10 {
		t.Errorf("%+v", s)
	}
	ledger.down.Store(false)
	h.packets.Pass(t.Context())
	if left := storetest.Unsettled(t, h.pool, 0); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
	h.mustBalance(t)
}

// TestUnpayableClaimDoesNotKeepItsPacketOpen closes a packet with a claim that can never be paid. Either recovery has seen
// the claim before, or it was granted just before the deadline and only the close sees it. The claim must go into
// quarantine, and the sender must be refunded its share.
func TestUnpayableClaimDoesNotKeepItsPacketOpen(t *testing.T) {
	for _, age := range []time.Duration{redpacket.RecoverAge, time.Second} {
		h := newTestService(t, "boss")
		h.credit(t, "boss", 1000)
		h.exec(t, `create trigger poison before insert on claims when new.user_id = 'poison' begin select raise(abort, 'poisoned'); end`)
		p := h.send(t, "boss", redpacket.SendRequest{Total: 30, Count: 3, Mode: redpacket.Equal, TTL: time.Minute})
		h.clock.advance(time.Minute - age)
		if _, err := h.pool.Grab(t.Context(), []redpacket.Attempt{{Ref: p.Ref, User: "a"}, {Ref: p.Ref, User: "poison"}, {Ref: p.Ref, User: "b"}}); err != nil {
			t.Fatal(err)
		}
		h.clock.advance(age)
		h.packets.Pass(t.Context())
		book, err := h.store.Book(t.Context(), p.ID)
		if err != nil || book.Status != redpacket.Expired || len(book.Claims) != 2 || book.Refunded != 10 {
			t.Errorf("after %v: %+v, %v", age, book, err)
		}
		a, err := h.packets.Audit(t.Context())
		if err != nil || a.Quarantined != 1 || h.packets.Stats().Quarantined != 1 {
			t.Errorf("after %v: %d in quarantine, %+v, %v", age, a.Quarantined, h.packets.Stats(), err)
		}
		h.mustBalance(t)
	}
}

// deadNode is a Pool in which half of the partitions do not answer.
type deadNode struct {
	redpacket.Pool
	calls [redpacket.Partitions]atomic.Int32
}

const silence = 500 * time.Millisecond // the time until a call to a dead node fails

func dead(partition int) bool { return partition%2 == 1 }

func (p *deadNode) fail(partition int) error {
	p.calls[partition].Add(1)
	time.Sleep(silence)
	return fmt.Errorf("no answer: %w", chat.ErrUnavailable)
}

func (p *deadNode) Load(ctx context.Context, i redpacket.Image) error {
	if dead(i.Partition) {
		return p.fail(i.Partition)
	}
	return p.Pool.Load(ctx, i)
}

func (p *deadNode) Close(ctx context.Context, r redpacket.Ref, why redpacket.CloseReason) (redpacket.Closing, error) {
	if dead(r.Partition) {
		return redpacket.Closing{}, p.fail(r.Partition)
	}
	return p.Pool.Close(ctx, r, why)
}

// TestPacketsOfADeadNodeHideNoOther has more than a page of due packets that cannot be closed, because their node is
// dead. Packets on healthy nodes have later deadlines, and the Pool has lost them. They must be closed all the same.
// The dead node must not be called once for each of its packets.
func TestPacketsOfADeadNodeHideNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stuck, healthy = 1200, 40 // more than a page
		h := newTestService(t, "boss")
		h.credit(t, "boss", 10_000)
		pool := &deadNode{Pool: h.pool}
		var wantDead bool
		options := redpacket.Options{Now: h.clock.now, Log: slog.New(slog.DiscardHandler), BackstopEvery: 100 * time.Millisecond}
		options.NewID = func(at time.Time) string {
			id := chat.NewID(at)
			for dead(redpacket.PartitionOf(id)) != wantDead {
				id = chat.NewID(at)
			}
			return id
		}
		h.packets = redpacket.New(h.store, h.pool, h.rooms, h.published, options)
		wantDead = true
		for range stuck {
			h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1, TTL: 5 * time.Second})
		}
		wantDead = false
		var living []redpacket.Packet
		for range healthy {
			living = append(living, h.send(t, "boss", redpacket.SendRequest{Total: 1, Count: 1, TTL: time.Minute}))
		}
		h.pool.Forget()
		h.clock.advance(2 * time.Minute)
		h.packets = redpacket.New(h.store, pool, h.rooms, h.published, options)
		begun := time.Now()
		h.run(t)
		h.published.waitFor(t, "the end of all healthy packets", func(entries []chat.Entry, _ []chat.Event) bool {
			ended := 0
			for _, e := range entries {
				if e.Kind == chat.KindPacketDone {
					ended++
				}
			}
			return ended == len(living)
		})
		took := time.Since(begun)
		if took > 5*time.Second {
			t.Errorf("the healthy packets were closed after %v", took)
		}
		if a, err := h.packets.Audit(t.Context()); err != nil || a.OpenPackets != stuck {
			t.Errorf("%d packets are open, %v", a.OpenPackets, err)
		}
		for i := range pool.calls {
			// The first closes of a partition run at the same time. Once they have failed, one close at a time tests
			// whether the node answers again.
			if n := int(pool.calls[i].Load()); n > 32+2+int(time.Since(begun)/silence) {
				t.Errorf("partition %d was asked %d times in %v", i, n, took)
			}
		}
	})
}
