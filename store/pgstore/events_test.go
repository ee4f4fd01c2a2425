package pgstore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestEvents(t *testing.T) {
	testEvents(t, func(database string) string { return database })
}

func TestEventsThroughPgBouncer(t *testing.T) {
	testEvents(t, bouncer(t))
}

func testEvents(t *testing.T, route func(database string) string) {
	storetest.TestEvents(t, func(t *testing.T) storetest.EventsUnderTest {
		t.Parallel()
		s := openStore(t, route(migratedDatabase(t)))
		exec := func(statement string) error {
			return s.tx(t.Context(), func(w *writer) error {
				_, err := w.exec(statement)
				return err
			})
		}
		return storetest.EventsUnderTest{
			Store: s, Ledger: s, Rooms: s, Exec: exec,
			NewEpoch: func() {
				if err := exec(`update settings set value = 'another epoch' where name = 'epoch'`); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}
