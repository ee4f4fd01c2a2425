package pgstore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestFileForgeries(t *testing.T) {
	t.Parallel()
	storetest.TestFileForgeries(t, func(t *testing.T) storetest.FilesUnderTest {
		t.Helper()
		s := openStore(t, migratedDatabase(t))
		return storetest.FilesUnderTest{Rooms: s, Rows: s, Exec: executor(t, s)}
	})
}
