package pgstore

import (
	"errors"
	"sync"
	"testing"

	"hongbao/redpacket"
	"hongbao/store/chain"
	"hongbao/store/storetest"
)

func chainsUnderTest(t *testing.T) storetest.ChainsUnderTest {
	url := migratedDatabase(t)
	conn := connect(t, url)
	must(t, simple(t.Context(), conn, `set session_replication_role = replica`)) // without triggers
	return storetest.ChainsUnderTest{
		Name: url,
		Open: func(t *testing.T) storetest.ChainedStore { return openStore(t, url) },
		Exec: func(t *testing.T, statement string) { must(t, simple(t.Context(), conn, statement)) },
	}
}

func TestChainRows(t *testing.T) {
	t.Parallel()
	storetest.TestChainRows(t, `''`, chainsUnderTest)
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
		return r.sendBatch(batchOf((&link{chain: known, id: next}).insertLink()))
	}))
	acc, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "x", User: "u1", Amount: 5, Key: "x", Hash: []byte("x")})
	if err != nil || acc.Balance == 0 {
		t.Errorf("%+v, %v", acc, err)
	}
	if now := s.chains.free[len(s.chains.free)-1]; now == known {
		t.Errorf("the store still uses chain %d", known.number)
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
		err := s.withReader(t.Context(), func(r reader) error { return r.sendBatch(batchOf(statement)) })
		if got := prevMissing(err); got != want {
			t.Errorf("%s: %v, %t, want %t", statement, err, got, want)
		}
	}
	if poisonous(errors.Join(errTailLost)) {
		t.Error("a lost tail must not be taken for a bad row")
	}
}

func TestOtherProgram(t *testing.T) { t.Parallel(); storetest.TestOtherProgram(t, chainsUnderTest) }

func TestStoresContinueChains(t *testing.T) {
	t.Parallel()
	storetest.TestStoresContinueChains(t, chainsUnderTest)
}
