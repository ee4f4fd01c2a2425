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
