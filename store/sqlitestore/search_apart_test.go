package sqlitestore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestWordsThatNeverMeet(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedFolder(t))
	storetest.TestWordsThatNeverMeet(t, s, func(statement string) { alter(t, s, statement) })
}
