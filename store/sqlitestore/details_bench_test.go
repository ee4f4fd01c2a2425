package sqlitestore

import (
	"testing"

	"hongbao/store/storetest"
)

func BenchmarkDetails(b *testing.B) {
	s := openStore(b, b.TempDir())
	storetest.BenchmarkDetails(b, s, hotPackets(b, s, 1, 10_000)[0])
}
