package pgstore

import (
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/enginetest"
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
