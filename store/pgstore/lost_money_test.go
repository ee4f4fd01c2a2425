package pgstore

import (
	"reflect"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// faultyLedger is a faultyStore whose room owner has money. Its gate also holds back commits that write wallets.
type faultyLedger struct {
	*faultyStore
	life *storetest.Life
}

// moneyGate is commitGate for commits that move money. Citus allows no triggers on wallets, which are split, but such a commit adds a link.
func moneyGate() []string {
	table := "wallets"
	if *citus {
		table = "links"
	}
	return []string{
		`create function wait_with_money() returns trigger language plpgsql set lock_timeout = 0 as
			$$ begin perform pg_advisory_xact_lock_shared(42); return null; end $$`,
		`create constraint trigger gate after insert or update on ` + table + ` deferrable initially deferred
			for each row execute function wait_with_money()`,
	}
}

func newFaultyLedger(t *testing.T) *faultyLedger {
	t.Helper()
	b := newFaultyStore(t)
	m := &faultyLedger{b, &storetest.Life{TB: t, Ledger: b.direct, Rooms: b.direct, At: time.UnixMilli(1_700_000_000_000).UTC()}}
	m.adjust(b.direct, "fund", 10_000)
	for _, statement := range moneyGate() {
		b.must(b.direct.withReader(t.Context(), func(r reader) error { return pg.Simple(r.Ctx, r.Conn, statement) }))
	}
	return m
}

func (m *faultyLedger) adjust(s *Store, key string, amount redpacket.Money) (redpacket.Account, bool) {
	m.Helper()
	acc, dup, err := s.Adjust(m.Context(), redpacket.Adjustment{ID: key, User: "owner", Amount: amount, Key: key, Hash: []byte(key), At: m.life.At})
	m.must(err)
	return acc, dup
}

func (m *faultyLedger) packet(total redpacket.Money, count int) redpacket.Packet {
	m.Helper()
	return m.life.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, total, count)
}

func (m *faultyLedger) book(p redpacket.Packet) redpacket.Book {
	m.Helper()
	book, err := m.direct.Book(m.Context(), p.ID)
	m.must(err)
	return book
}

func (m *faultyLedger) account(user string) redpacket.Account {
	m.Helper()
	acc, err := m.direct.Account(m.Context(), user)
	m.must(err)
	return acc
}

// wantBalanced audits the data and checks that no difference is found and that the sums agree.
func wantBalanced(t testing.TB, s *Store) {
	t.Helper()
	a, err := s.Audit(t.Context(), nil)
	if err != nil || len(a.Differences) > 0 || a.Funded != a.InWallets+a.InPackets {
		t.Errorf("audit: %+v, %v", a, err)
	}
}

// TestSettleWhoseCommitWasLost loses the reply to a commit that pays claims. The second run must find its own claims
// and report them as PaidNow, not as duplicates.
func TestSettleWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	m := newFaultyLedger(t)
	p := m.packet(1000, 3)
	shares := m.book(p).Shares
	claims := []redpacket.Claim{
		{Ref: p.Ref, Share: 1, User: "ann", At: m.life.At}, {Ref: p.Ref, Share: 2, User: "bob", At: m.life.At},
		{Ref: p.Ref, Share: 1, User: "cy", At: m.life.At}, {Ref: p.Ref, Share: 1, User: "ann", At: m.life.At},
	}
	want := []redpacket.Verdict{redpacket.PaidNow, redpacket.PaidNow, redpacket.Conflict, redpacket.Duplicate}
	m.withCommitReplyLost(true, func() {
		settled := m.Settle(t.Context(), claims)
		for i, s := range settled {
			if s.Verdict != want[i] || s.Verdict == redpacket.PaidNow &&
				(s.Amount != shares[s.Share] || s.Account.Balance != s.Amount || s.Account.NextCommitment == "" || !s.At.Equal(m.life.At)) {
				t.Errorf("claim %d: %+v", i, s)
			}
		}
	})
	again := m.Settle(t.Context(), claims[:1])
	if again[0].Verdict != redpacket.Duplicate || again[0].Amount != shares[1] {
		t.Errorf("second call: %+v", again)
	}
	wantBalanced(t, m.direct)
}

// TestSendWhoseCommitWasLost loses the reply to the commit of a send. The second run must find its own packet and not
// report a repeated request.
func TestSendWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	m := newFaultyLedger(t)
	o := redpacket.UnsealedPacket{
		Packet: redpacket.Packet{Ref: redpacket.Ref{ID: "packet"}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: 1000, Count: 2,
			CreatedAt: m.life.At, ExpiresAt: m.life.At.Add(time.Hour), Key: "a packet"},
		Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "entry",
	}
	m.withCommitReplyLost(true, func() {
		sent, err := m.Send(t.Context(), o)
		if err != nil || sent.Dup || sent.Account != m.account("owner") || sent.Entry.ID != "entry" || !reflect.DeepEqual(sent.Packet, m.book(o.Packet).Packet) {
			t.Errorf("%+v, %v; want a new packet", sent, err)
		}
	})
	if got := m.account("owner"); got.Balance != 9000 || got.NextCommitment != redpacket.Commitment(o.NextSeed) {
		t.Errorf("account %+v", got)
	}
	if sent, err := m.Send(t.Context(), o); err != nil || !sent.Dup {
		t.Errorf("second call: %+v, %v", sent, err)
	}
	wantBalanced(t, m.direct)
}

// TestEndWhoseCommitWasLost loses the reply to the commit that ends a packet. The second run must report the end and
// the payments of the first.
func TestEndWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	m := newFaultyLedger(t)
	p := m.packet(1000, 3)
	m.life.Claim(p, 1)
	c := redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: m.life.At, EntryID: "done",
		Grants: []redpacket.Grant{{User: "u0", Share: 0}, {User: "late", Share: 1}, {User: "later", Share: 1}}}
	m.withCommitReplyLost(true, func() {
		closed, err := m.End(t.Context(), c)
		m.must(err)
		book := m.book(p)
		want := redpacket.Closed{
			Done: true, Book: book, Inserted: book.Claims[1:], Entry: closed.Entry,
			Accounts: map[string]redpacket.Account{"late": m.account("late"), "owner": m.account("owner")},
		}
		if !reflect.DeepEqual(closed, want) || closed.Entry.ID != "done" || book.Refunded != book.Shares[2] {
			t.Errorf("got\n%+v\nwant\n%+v", closed, want)
		}
	})
	again, err := m.End(t.Context(), c)
	if err != nil || again.Done || len(again.Inserted)+len(again.Accounts) > 0 {
		t.Errorf("second call: %+v", again)
	}
	wantBalanced(t, m.direct)
}

// TestEndThatARerunLeavesOut loses the reply to the commit that ends a packet, and locks the room before the transaction runs again. That
// run leaves the packet out. A later run must still report the end.
func TestEndThatARerunLeavesOut(t *testing.T) {
	t.Parallel()
	m := newFaultyLedger(t)
	p := m.packet(1000, 3)
	j, err := m.newEndJob(t.Context(), redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: m.life.At, EntryID: "done"})
	m.must(err)
	unlock := func() {}
	m.beforeCut = func() { unlock = hold(t, m.direct, `select from rooms where id = 'room-1' for update`) }
	m.withCommitReplyLost(true, func() {
		if locked, err := m.endAll(t.Context(), []*endJob{j}, true); err != nil || locked[0] == "" {
			t.Errorf("the run after the loss: %q, %v; want it to leave the packet out", locked, err)
		}
	})
	unlock()
	if _, err := m.endAll(t.Context(), []*endJob{j}, false); err != nil || !j.closed.Done || j.closed.Entry.ID != "done" || j.closed.Accounts["owner"] != m.account("owner") {
		t.Errorf("%+v, %v; want the end of the first run", j.closed, err)
	}
	wantBalanced(t, m.direct)
}

// TestAdjustWhoseCommitWasLost loses the reply to the commit of a credit or debit. The second run must find its own
// transfer and not report a repeated request.
func TestAdjustWhoseCommitWasLost(t *testing.T) {
	t.Parallel()
	for key, amount := range map[string]redpacket.Money{"credit": 50, "debit": -70} {
		t.Run(key, func(t *testing.T) {
			m := newFaultyLedger(t)
			m.withCommitReplyLost(true, func() {
				if acc, dup := m.adjust(m.Store, key, amount); dup || acc.Balance != 10_000+amount {
					t.Errorf("%+v, dup %v", acc, dup)
				}
			})
			if acc, dup := m.adjust(m.Store, key, amount); !dup || acc.Balance != 10_000+amount {
				t.Errorf("second call: %+v, dup %v", acc, dup)
			}
			wantBalanced(t, m.direct)
		})
	}
}
