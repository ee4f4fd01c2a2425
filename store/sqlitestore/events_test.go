package sqlitestore

import (
	"strings"
	"testing"

	"hongbao/store/storetest"
)

func TestEvents(t *testing.T) {
	storetest.TestEvents(t, func(t *testing.T) storetest.EventsUnderTest {
		s := openStore(t, t.TempDir())
		exec := func(statement string) error {
			return s.do(t.Context(), func(w *writer) error {
				_, err := w.Exec(strings.ReplaceAll(statement, "bytea", "blob"))
				return err
			})
		}
		return storetest.EventsUnderTest{
			Store: s, Consumers: s, Absences: s, Ledger: s, Rooms: s, Exec: exec,
			NewEpoch: func() {
				if err := exec(`update settings set value = cast('another epoch' as blob) where name = 'epoch'`); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}
