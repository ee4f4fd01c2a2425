package pgstore

import (
	"testing"

	"hongbao/chat"
	"hongbao/redpacket"
	"hongbao/store/storetest"
)

func TestLedger(t *testing.T) {
	storetest.TestLedger(t, func(t *testing.T) (redpacket.Ledger, chat.Store) {
		s := openStore(t, storetest.Database(t))
		return s, s
	})
}

func TestLedgerThroughPgBouncer(t *testing.T) {
	storetest.TestLedger(t, func(t *testing.T) (redpacket.Ledger, chat.Store) {
		route := bouncer(t) // each its own: it keeps its connections to every database it has seen
		s := openStore(t, route(storetest.Database(t)))
		return s, s
	})
}
