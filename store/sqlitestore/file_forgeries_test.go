package sqlitestore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestFileForgeries(t *testing.T) {
	t.Parallel()
	storetest.TestFileForgeries(t, func(t *testing.T) storetest.FilesUnderTest {
		t.Helper()
		s := openStore(t, migratedFolder(t))
		return storetest.FilesUnderTest{Rooms: s, Rows: s, Exec: func(statement string) { alter(t, s, statement) }}
	})
}
