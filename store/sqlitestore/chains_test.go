package sqlitestore

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

func chainsUnderTest(t *testing.T) storetest.ChainsUnderTest {
	return chainsUnderTestIn(migratedFolder(t))
}

func chainsUnderTestIn(dir string) storetest.ChainsUnderTest {
	return storetest.ChainsUnderTest{
		Name: filepath.Join(dir, FileName),
		Open: func(t *testing.T) storetest.ChainedStore { return openStore(t, dir) },
		Exec: func(t testing.TB, statement string) {
			t.Helper()
			db, err := sql.Open("sqlite", filepath.Join(dir, FileName)+"?_pragma=busy_timeout(5000)")
			noError(t, err)
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
			noError(t, db.Close())
		},
	}
}

func TestUnchainedRows(t *testing.T) { storetest.TestUnchainedRows(t, `x''`, chainsUnderTest) }

func TestTailLost(t *testing.T) { storetest.TestTailLost(t, errTailLost, chainsUnderTest) }

func TestOtherProgramAfterErasure(t *testing.T) {
	storetest.TestOtherProgramAfterErasure(t, chainsUnderTest)
}

func TestOtherProgram(t *testing.T) { storetest.TestOtherProgram(t, chainsUnderTest) }

// TestNoChainLeft settles when no chain can be opened. The claim is not at fault, so it must not become unpayable.
func TestNoChainLeft(t *testing.T) {
	u := chainsUnderTest(t)
	s := openStore(t, filepath.Dir(u.Name))
	storetest.Live(t, s, s)
	p := (&storetest.Life{TB: t, Ledger: s, Rooms: s, At: time.Now()}).Send("u1", "left", redpacket.Lucky, redpacket.Classic, 100, 2)
	noError(t, s.Close())
	u.Exec(t, `update chains set free = 0`)
	u.Exec(t, `insert into chains (id, instance, at) values (1048575, '', 1)`)
	claim := []redpacket.Claim{{Ref: p.Ref, Share: 0, User: "u2", At: time.Now()}}
	s = openStore(t, filepath.Dir(u.Name))
	if got := s.Settle(t.Context(), claim)[0]; got.Verdict == redpacket.Unpayable || !errors.Is(got.Err, chat.ErrUnavailable) {
		t.Errorf("claim without a chain: %+v", got)
	}
	u.Exec(t, `update chains set free = 1 where id = 1`)
	if got := s.Settle(t.Context(), claim)[0]; got.Verdict != redpacket.PaidNow {
		t.Errorf("with a chain again: %+v", got)
	}
}

func TestStoresContinueChains(t *testing.T) {
	storetest.TestStoresContinueChains(t, chainsUnderTest)
}
