package store

import (
	"os"
	"testing"

	"hongbao/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// noError fails the test at once if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
