package pgstore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestSecurity(t *testing.T) {
	storetest.TestSecurity(t, func(t *testing.T) storetest.SecurityUnderTest {
		t.Parallel()
		s := openStore(t, migratedDatabase(t))
		return storetest.SecurityUnderTest{Store: s, Exec: func(statement string) error {
			return s.tx(t.Context(), func(w *writer) error {
				_, err := w.Exec(statement)
				return err
			})
		}}
	})
}
