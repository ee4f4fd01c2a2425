package sqlitestore

import (
	"testing"

	"hongbao/store/storetest"
)

func BenchmarkDraw(b *testing.B) {
	s := openStore(b, b.TempDir())
	storetest.BenchmarkDraw(b, s, s)
}
