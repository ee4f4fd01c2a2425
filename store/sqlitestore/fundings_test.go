package sqlitestore

import (
	"testing"

	"hongbao/redpacket"
	"hongbao/store/storetest"
)

func TestFundings(t *testing.T) {
	storetest.TestFundings(t, func(t *testing.T) (redpacket.Fundings, storetest.EventsUnderTest) {
		s := openStore(t, t.TempDir())
		exec := func(statement string) error {
			return s.do(t.Context(), func(w *writer) error {
				_, err := w.Exec(statement)
				return err
			})
		}
		return s, storetest.EventsUnderTest{Store: s, Consumers: s, Ledger: s, Rooms: s, Exec: exec}
	})
}
