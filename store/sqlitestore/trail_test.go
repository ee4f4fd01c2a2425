package sqlitestore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestTrail(t *testing.T) {
	storetest.TestTrail(t, func(t *testing.T) storetest.TrailUnderTest { return openStore(t, migratedFolder(t)) })
}

func TestCharts(t *testing.T) { storetest.TestCharts(t, openStore(t, migratedFolder(t))) }
