package memstore

import (
	"os"
	"testing"

	"hongbao/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.LimitHistories(100)
	os.Exit(storetest.Main(m))
}
