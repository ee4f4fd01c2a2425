package pgstore

import (
	"math"
	"testing"
	"time"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

func TestLedger(t *testing.T) {
	storetest.TestLedger(t, func(t *testing.T) (redpacket.Ledger, chat.Store) {
		t.Parallel()
		s := measuredStore(t)
		return s, s
	})
}

func TestLedgerThroughPgBouncer(t *testing.T) {
	enginetest.Nightly(t, "suites")
	storetest.TestLedger(t, func(t *testing.T) (redpacket.Ledger, chat.Store) {
		t.Parallel()
		route := bouncer(t) // one PgBouncer for each test, because it keeps connections to every database that it has served
		s := openStore(t, route(migratedDatabase(t)))
		return s, s
	})
}

// TestRecountCirculation stores a wrong amount of money in circulation, which is then computed from a credit and a debit. Forged credits
// whose sum is greater than the largest number count as that number.
func TestRecountCirculation(t *testing.T) {
	t.Parallel()
	url := migratedDatabase(t)
	s, conn := openStore(t, url), connect(t, url)
	for key, amount := range map[string]redpacket.Money{"credit": 1000, "more": 50} {
		_, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: key, User: "ann", Amount: amount, Key: key, Hash: []byte(key), At: time.Now()})
		must(t, err)
	}
	_, _, err := s.Adjust(t.Context(), redpacket.Adjustment{ID: "debit", User: "ann", Amount: -300, Key: "debit", Hash: []byte("debit"), At: time.Now()})
	must(t, err)
	recount := func(want int64) {
		t.Helper()
		must(t, s.RecountCirculation(t.Context()))
		var amount int64
		must(t, conn.QueryRow(t.Context(), `select amount from circulation`).Scan(&amount))
		if amount != want {
			t.Errorf("%d in circulation, want %d", amount, want)
		}
	}
	must(t, pg.Simple(t.Context(), conn, `update circulation set amount = 3`))
	recount(750)
	must(t, pg.Simple(t.Context(), conn, `update transfers set amount = 9223372036854775807 where kind = 'credit'`))
	recount(math.MaxInt64)
}
