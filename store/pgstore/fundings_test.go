package pgstore

import (
	"testing"

	"hongbao/redpacket"
	"hongbao/store/enginetest"
	"hongbao/store/storetest"
)

func TestFundings(t *testing.T) {
	testFundings(t, func(database string) string { return database })
}

func TestFundingsThroughPgBouncer(t *testing.T) {
	enginetest.Nightly(t, "suites")
	testFundings(t, bouncer(t))
}

func testFundings(t *testing.T, route func(database string) string) {
	storetest.TestFundings(t, func(t *testing.T) (redpacket.Fundings, storetest.EventsUnderTest) {
		t.Parallel()
		s := openStore(t, route(migratedDatabase(t)))
		exec := func(statement string) error {
			return s.tx(t.Context(), func(w *writer) error {
				_, err := w.Exec(statement)
				return err
			})
		}
		return s, storetest.EventsUnderTest{Store: s, Consumers: s, Ledger: s, Rooms: s, Exec: exec}
	})
}
