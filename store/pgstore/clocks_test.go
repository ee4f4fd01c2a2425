package pgstore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestClocks(t *testing.T) {
	database := migratedDatabase(t)
	t.Run("directly", func(t *testing.T) { storetest.TestClocks(t, openStore(t, database).Clocks, 1) })
	t.Run("through PgBouncer", func(t *testing.T) { storetest.TestClocks(t, openStore(t, bouncer(t)(database)).Clocks, 1) })
}
