package pgstore

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/chain"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

func chainsUnderTest(t *testing.T) storetest.ChainsUnderTest {
	url := migratedDatabase(t)
	conn := connect(t, url)
	must(t, pg.Simple(t.Context(), conn, `set session_replication_role = replica`)) // without triggers
	return storetest.ChainsUnderTest{
		Name: url,
		Open: func(t *testing.T) storetest.ChainedStore { return openStore(t, url) },
		Exec: func(t testing.TB, statement string) {
			if *citus {
				statement = pg.OnCitus(statement)
			}
			must(t, pg.Simple(t.Context(), conn, statement))
		},
	}
}

func TestUnchainedRows(t *testing.T) {
	t.Parallel()
	storetest.TestUnchainedRows(t, `''`, chainsUnderTest)
}

func TestTailLost(t *testing.T) {
	t.Parallel()
	storetest.TestTailLost(t, errTailLost, chainsUnderTest)
}

// TestLinkOfUnknownOutcome adds a link to a chain as a commit with an unknown outcome would do. The next transaction must
// use another chain.
func TestLinkOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	storetest.Live(t, s, s)
	known := s.chains.free[len(s.chains.free)-1]
	next := chain.LinkID(known.number, known.last, 0)
	must(t, s.withReader(t.Context(), func(r reader) error {
		return r.SendBatch(batchOf((&link{chain: known, id: next}).insertLink()))
	}))
	acc, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "x", User: "u1", Amount: 5, Key: "x", Hash: []byte("x")})
	if err != nil || acc.Balance == 0 {
		t.Errorf("%+v, %v", acc, err)
	}
	if now := s.chains.free[len(s.chains.free)-1]; now == known {
		t.Errorf("the store still uses chain %d", known.number)
	}
}

// TestUnpaidClaimsKeepTheirChain settles claims that pay nothing, again and again. No such transaction may use up a chain.
func TestUnpaidClaimsKeepTheirChain(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	claim := func(user string, share int) redpacket.Claim {
		return redpacket.Claim{Ref: p.Ref, Share: share, User: user, At: l.At}
	}
	if paid := s.Settle(t.Context(), []redpacket.Claim{claim("ann", 0)}); paid[0].Verdict != redpacket.PaidNow {
		t.Fatalf("first claim: %+v", paid)
	}
	before := s.chains.len()
	for range 100 {
		got := s.Settle(t.Context(), []redpacket.Claim{claim("ann", 0), claim("bob", 0), claim("ann", 1)})
		if got[0].Verdict != redpacket.Duplicate || got[1].Verdict != redpacket.Conflict || got[2].Verdict != redpacket.Duplicate {
			t.Fatalf("unpaid claims: %+v", got)
		}
	}
	heads, err := s.Heads(t.Context())
	if err != nil || len(heads) != before || s.chains.len() != before {
		t.Errorf("%d chains, %d free, %v; want %d as before", len(heads), s.chains.len(), err, before)
	}

	s.chains.forget() // now the transaction of the claim opens its chain itself
	if _, err := s.settleAll(t.Context(), []*settleJob{{Claim: claim("ann", 0), transfer: "again"}}, true); err != nil || s.chains.len() != 1 {
		t.Errorf("%d chains are free after a claim that opened one, %v; want 1", s.chains.len(), err)
	}
	if paid := s.Settle(t.Context(), []redpacket.Claim{claim("bob", 1)}); paid[0].Verdict != redpacket.PaidNow {
		t.Errorf("next claim: %+v", paid)
	}
	if heads, err = s.Heads(t.Context()); err != nil || len(heads) != before+1 {
		t.Errorf("%d chains, %v; want %d", len(heads), err, before+1)
	}
	if a, err := s.Audit(t.Context(), &redpacket.AuditQuery{Heads: heads}); err != nil || len(a.Differences) > 0 {
		t.Errorf("audit: %+v, %v", a.Differences, err)
	}
}

// TestNoChainLeft settles when no chain can be opened. The claims are not at fault, so none may become unpayable.
func TestNoChainLeft(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	l := fundedRoom(t, s)
	p := l.Send("owner", "packet", redpacket.Lucky, redpacket.Classic, 1000, 3)
	claims := []redpacket.Claim{{Ref: p.Ref, Share: 0, User: "ann", At: l.At}, {Ref: p.Ref, Share: 1, User: "bob", At: l.At}}
	unavailable := func() {
		t.Helper()
		s.chains.forget()
		for _, got := range s.Settle(t.Context(), claims) {
			if got.Verdict == redpacket.Unpayable || !errors.Is(got.Err, chat.ErrUnavailable) {
				t.Errorf("claim without a chain: %+v", got)
			}
		}
		if err := s.tx(t.Context(), func(w *writer) error { _, err := w.takeLink(); return err }); poisonous(err) || !errors.Is(err, errNoChain) {
			t.Errorf("the error of a chain is taken for that of a row: %v", err)
		}
	}
	restart := func(sequence string) {
		must(t, s.withReader(t.Context(), func(r reader) error {
			return r.SendBatch(batchOf(`alter sequence chains_id_seq restart with ` + sequence))
		}))
	}
	restart(`1048576`) // refused by the check of the column
	unavailable()
	restart(`2147483647`)
	unavailable() // the first use exhausts the sequence

	restart(`1000`)
	if got := s.Settle(t.Context(), claims); slices.ContainsFunc(got, func(s redpacket.Settlement) bool { return s.Verdict != redpacket.PaidNow }) {
		t.Errorf("with chains again: %+v", got)
	}
}

// TestConcurrentTransactionsUseOwnChains adds rows from many transactions at once, and audits. No two transactions may add
// to one chain at the same time.
func TestConcurrentTransactionsUseOwnChains(t *testing.T) {
	t.Parallel()
	all := instances(t, 3)
	l := fundedRoom(t, all[0])
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			id := "c-" + string(rune('A'+i))
			_, _, err := all[i%3].Adjust(t.Context(), redpacket.Adjustment{ID: id, User: id, Amount: 5, Key: id, Hash: []byte(id), At: l.At})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	heads, err := all[0].Heads(t.Context())
	must(t, err)
	a, err := all[0].Audit(t.Context(), &redpacket.AuditQuery{Heads: heads})
	if err != nil || len(a.Differences) > 0 || len(heads) < 3 {
		t.Errorf("audit with %d heads: %+v, %v", len(heads), a.Differences, err)
	}
}

// TestPrevMissingIsExact checks that only a null hash of a link counts as a missing link.
func TestPrevMissingIsExact(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	for statement, want := range map[string]bool{
		`insert into links values (1, 1, 1, 1, 1, null)`:           true,
		`insert into links values (1, 1, 1, 1, null, null)`:        false,
		`insert into settings (name) values ('no value')`:          false,
		`create temp table links2 (hash int not null)`:             false,
		`insert into links values (1, 1, 1, 1, 1, repeat('x', 5))`: false,
	} {
		err := s.withReader(t.Context(), func(r reader) error { return r.SendBatch(batchOf(statement)) })
		if got := prevMissing(err); got != want {
			t.Errorf("%s: %v, %t, want %t", statement, err, got, want)
		}
	}
	if poisonous(errors.Join(errTailLost)) {
		t.Error("a lost tail must not be taken for a bad row")
	}
}

func TestOtherProgramAfterErasure(t *testing.T) {
	t.Parallel()
	storetest.TestOtherProgramAfterErasure(t, chainsUnderTest)
}

func TestOtherProgram(t *testing.T) { t.Parallel(); storetest.TestOtherProgram(t, chainsUnderTest) }

func TestStoresContinueChains(t *testing.T) {
	t.Parallel()
	storetest.TestStoresContinueChains(t, chainsUnderTest)
}

// len returns the number of chains that no transaction uses.
func (c *chains) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.free)
}
