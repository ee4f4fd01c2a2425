package pgstore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestArchive(t *testing.T) {
	storetest.TestArchive(t, func(t *testing.T) storetest.ArchiveUnderTest {
		t.Parallel()
		return openStore(t, migratedDatabase(t))
	})
}
