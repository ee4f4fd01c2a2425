package pgstore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestTrail(t *testing.T) {
	storetest.TestTrail(t, func(t *testing.T) storetest.TrailUnderTest {
		t.Parallel()
		return openStore(t, migratedDatabase(t))
	})
}

func TestCharts(t *testing.T) {
	t.Parallel()
	storetest.TestCharts(t, openStore(t, migratedDatabase(t)))
}
