package pgstore

import (
	"testing"

	"hongbao/store/storetest"
	"hongbao/store/tables"
)

func TestLargeRoomIsDeleted(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	storetest.TestLargeRoomIsDeleted(t, s, tables.GoneAtOnce, func(statement string) {
		must(t, s.tx(t.Context(), func(w *writer) error {
			_, err := w.Exec(statement)
			return err
		}))
	}, func(query string) (n int) {
		must(t, s.withReader(t.Context(), func(r reader) error {
			_, err := r.Row(query, nil, &n)
			return err
		}))
		return n
	})
}
