package pgstore

import (
	"testing"

	"hongbao/store/storetest"
)

func BenchmarkDetails(b *testing.B) {
	s := openStore(b, migratedDatabase(b))
	storetest.BenchmarkDetails(b, s, packetsToGrab(b, s, 1, 10_000, 10_000)[0])
}
