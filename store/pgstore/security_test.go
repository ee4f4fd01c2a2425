package pgstore

import (
	"testing"

	"hongbao/store/pgstore/internal/pg"
	"hongbao/store/storetest"
)

// TestSecurity runs the suite in a database whose names are sorted by the rules of English, so that a statement that
// leaves the order to the database fails.
func TestSecurity(t *testing.T) {
	storetest.TestSecurity(t, func(t *testing.T) storetest.SecurityUnderTest {
		t.Parallel()
		url := migratedDatabase(t)
		must(t, pg.Simple(t.Context(), connect(t, url), `alter table security_counts alter column origin type text collate "en-x-icu"`))
		s := openStore(t, url)
		return storetest.SecurityUnderTest{Store: s, Exec: func(statement string) error {
			return s.tx(t.Context(), func(w *writer) error {
				_, err := w.Exec(statement)
				return err
			})
		}}
	})
}
