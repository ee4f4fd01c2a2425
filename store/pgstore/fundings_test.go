package pgstore

import (
	"testing"

	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
)

func TestFundings(t *testing.T) {
	testFundings(t, measuredStore)
}

func TestFundingsThroughPgBouncer(t *testing.T) {
	enginetest.Nightly(t, "suites")
	testFundings(t, storeThrough(bouncer(t)))
}

func testFundings(t *testing.T, open func(*testing.T) *Store) {
	storetest.TestFundings(t, func(t *testing.T) (redpacket.Fundings, storetest.EventsUnderTest) {
		t.Parallel()
		s := open(t)
		exec := func(statement string) error {
			return s.tx(t.Context(), func(w *writer) error {
				_, err := w.Exec(ofTheTest(statement))
				return err
			})
		}
		return s, storetest.EventsUnderTest{Store: s, Consumers: s, Ledger: s, Rooms: s, Exec: exec}
	})
}
