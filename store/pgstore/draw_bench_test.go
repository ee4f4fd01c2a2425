package pgstore

import (
	"testing"

	"hongbao/store/storetest"
)

func BenchmarkDraw(b *testing.B) {
	s := openStore(b, migratedDatabase(b))
	storetest.BenchmarkDraw(b, s, s)
}
