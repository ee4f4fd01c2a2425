package pgstore

import (
	"testing"

	"hongbao/store/storetest"
)

func TestWordsThatNeverMeet(t *testing.T) {
	t.Parallel()
	s := openStore(t, migratedDatabase(t))
	storetest.TestWordsThatNeverMeet(t, s, executor(t, s))
}
