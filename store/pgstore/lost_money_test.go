package pgstore

import (
	"reflect"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

// moneyLine is a broken line whose room's owner has money. Its gate stops those too who write a wallet.
type moneyLine struct {
	*brokenLine
	life *storetest.Life
}

const moneyGate = `
create function wait_with_money() returns trigger language plpgsql as
	$$ begin perform pg_advisory_xact_lock_shared(42); return null; end $$;
create constraint trigger gate after insert or update on wallets deferrable initially deferred
	for each row execute function wait_with_money()`

func newMoneyLine(t *testing.T) *moneyLine {
	t.Helper()
	b := newBrokenLine(t)
	m := &moneyLine{b, &storetest.Life{TB: t, Ledger: b.direct, Rooms: b.direct, At: time.UnixMilli(1_700_000_000_000).UTC()}}
	m.adjust(b.direct, "fund", 10_000)
	b.must(b.direct.look(t.Context(), func(r reader) error { return simple(r.ctx, r.conn, moneyGate) }))
	return m
}

func (m *moneyLine) adjust(s *Store, key string, amount redpacket.Money) (redpacket.Account, bool) {
	m.Helper()
	acc, dup, err := s.Adjust(m.Context(), redpacket.Adjustment{ID: key, User: "owner", Amount: amount, Key: key, Hash: []byte(key), At: m.life.At})
	m.must(err)
	return acc, dup
}

func (m *moneyLine) packet(total redpacket.Money, count int) redpacket.Packet {
	m.Helper()
	return m.life.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, total, count)
}

func (m *moneyLine) book(p redpacket.Packet) redpacket.Book {
	m.Helper()
	book, err := m.direct.Book(m.Context(), p.ID)
	m.must(err)
	return book
}

func (m *moneyLine) account(user string) redpacket.Account {
	m.Helper()
	acc, err := m.direct.Account(m.Context(), user)
	m.must(err)
	return acc
}

// balanced wants the books to agree with each other, whatever was done twice.
func balanced(t testing.TB, s *Store) {
	t.Helper()
	a, err := s.Audit(t.Context(), nil)
	if err != nil || len(a.Differences) > 0 || a.Funded != a.InWallets+a.InPackets {
		t.Errorf("the books: %+v, %v", a, err)
	}
}

// TestSettleWhoseCommitWasLost: run again it finds its own claims, and says that they were paid now.
func TestSettleWhoseCommitWasLost(t *testing.T) {
	m := newMoneyLine(t)
	p := m.packet(1000, 3)
	shares := m.book(p).Shares
	claims := []redpacket.Claim{
		{Ref: p.Ref, Share: 1, User: "ann", At: m.life.At}, {Ref: p.Ref, Share: 2, User: "bob", At: m.life.At},
		{Ref: p.Ref, Share: 1, User: "cy", At: m.life.At}, {Ref: p.Ref, Share: 1, User: "ann", At: m.life.At},
	}
	want := []redpacket.Verdict{redpacket.PaidNow, redpacket.PaidNow, redpacket.Conflict, redpacket.Duplicate}
	m.losingTheReply(true, func() {
		settled, err := m.Settle(t.Context(), claims)
		m.must(err)
		for i, s := range settled {
			if s.Verdict != want[i] || s.Verdict == redpacket.PaidNow &&
				(s.Amount != shares[s.Share] || s.Account.Balance != s.Amount || s.Account.NextCommitment == "" || !s.At.Equal(m.life.At)) {
				t.Errorf("claim %d: %+v", i, s)
			}
		}
	})
	again, err := m.Settle(t.Context(), claims[:1])
	if err != nil || again[0].Verdict != redpacket.Duplicate || again[0].Amount != shares[1] {
		t.Errorf("again: %+v, %v", again, err)
	}
	balanced(t, m.direct)
}

// TestSendWhoseCommitWasLost: run again it finds its own packet, and is no repetition.
func TestSendWhoseCommitWasLost(t *testing.T) {
	m := newMoneyLine(t)
	o := redpacket.Order{
		Packet: redpacket.Packet{Ref: redpacket.Ref{ID: "packet"}, Room: room, From: chat.User{ID: "owner"}, Mode: redpacket.Equal, Total: 1000, Count: 2,
			CreatedAt: m.life.At, ExpiresAt: m.life.At.Add(time.Hour), Key: "a packet"},
		Hash: []byte("h"), NextSeed: redpacket.NewSeed(), EntryID: "entry",
	}
	m.losingTheReply(true, func() {
		sent, err := m.Send(t.Context(), o)
		if err != nil || sent.Dup || sent.Account != m.account("owner") || sent.Entry.ID != "entry" || !reflect.DeepEqual(sent.Packet, m.book(o.Packet).Packet) {
			t.Errorf("%+v, %v; want a new packet", sent, err)
		}
	})
	if got := m.account("owner"); got.Balance != 9000 || got.NextCommitment != redpacket.Commitment(o.NextSeed) {
		t.Errorf("account %+v", got)
	}
	if sent, err := m.Send(t.Context(), o); err != nil || !sent.Dup {
		t.Errorf("again: %+v, %v", sent, err)
	}
	balanced(t, m.direct)
}

// TestEndWhoseCommitWasLost: run again it finds that it is the one who has ended the packet, and whom it has paid.
func TestEndWhoseCommitWasLost(t *testing.T) {
	m := newMoneyLine(t)
	p := m.packet(1000, 3)
	m.life.Claim(p, 1)
	c := redpacket.Close{Ref: p.Ref, Reason: redpacket.Expired, At: m.life.At, EntryID: "done",
		Grants: []redpacket.Grant{{User: "u0", Share: 0}, {User: "late", Share: 1}, {User: "later", Share: 1}}}
	m.losingTheReply(true, func() {
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
		t.Errorf("again: %+v, %v", again, err)
	}
	balanced(t, m.direct)
}

// TestAdjustWhoseCommitWasLost: run again it finds its own movement, and is no repetition.
func TestAdjustWhoseCommitWasLost(t *testing.T) {
	for key, amount := range map[string]redpacket.Money{"credit": 50, "debit": -70} {
		t.Run(key, func(t *testing.T) {
			m := newMoneyLine(t)
			m.losingTheReply(true, func() {
				if acc, dup := m.adjust(m.Store, key, amount); dup || acc.Balance != 10_000+amount {
					t.Errorf("%+v, dup %v", acc, dup)
				}
			})
			if acc, dup := m.adjust(m.Store, key, amount); !dup || acc.Balance != 10_000+amount {
				t.Errorf("again: %+v, dup %v", acc, dup)
			}
			balanced(t, m.direct)
		})
	}
}
