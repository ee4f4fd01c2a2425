package store

import (
	"os"
	"testing"

	"hongbao/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }
